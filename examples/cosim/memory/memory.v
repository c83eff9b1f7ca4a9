// SPDX-License-Identifier: Apache-2.0
//
// Memories of every common shape: read at an edge with and without an enable, read at once, written by
// bytes, written through two ports, read while written with the old and with the new word, and one
// that is filled before the first edge and never written.
`default_nettype none

module memory (
    input  wire        clk,
    input  wire        reset,
    input  wire [7:0]  address0,
    input  wire [7:0]  address1,
    input  wire        write0,
    input  wire        write1,
    input  wire [3:0]  byte_mask,
    input  wire        read_enable,
    input  wire [31:0] data0,
    input  wire [31:0] data1,
    output reg  [31:0] by_bytes,    // written by bytes, read at the edge, the old word
    output reg  [31:0] newest,      // read at the edge, the word that is being written
    output wire [31:0] at_once,     // read without a clock
    output reg  [15:0] first,       // two writing ports (the second wins), two reading ports
    output reg  [15:0] second,
    output reg  [7:0]  constant,    // a table
    output reg  [12:0] odd          // 13 bits wide, 100 words: some addresses name nothing
);
    // One port: written by bytes, and read as it was before. Cleared at the start.
    (* keep_memory *)
    reg [31:0] bytes [0:255];

    initial begin : clear_bytes
        integer i;
        for (i = 0; i < 256; i = i + 1)
            bytes[i] = 32'd0;
    end

    always @(posedge clk) begin : access_bytes
        integer i;
        for (i = 0; i < 4; i = i + 1)
            if (write0 && byte_mask[i])
                bytes[address0][8 * i +: 8] <= data0[8 * i +: 8];
        if (read_enable)
            by_bytes <= bytes[address0];
        if (reset)
            by_bytes <= 32'd0;
    end

    // The address is held instead of the data, so a word written is seen at once.
    reg [31:0] words [0:31];
    reg [4:0]  held;

    initial begin : fill_words
        integer i;
        for (i = 0; i < 32; i = i + 1)
            words[i] = 32'h01010101 * i;
    end

    always @(posedge clk) begin
        if (write1)
            words[address1[4:0]] <= data1;
        held <= reset ? 5'd0 : address0[4:0];
    end

    always @*
        newest = words[held];

    assign at_once = words[address1[4:0]] ^ words[address0[7:3]];

    // Two ports that both write and read. When both write one word, the second wins.
    reg [15:0] pair [0:15];

    initial begin : fill_pair
        integer i;
        for (i = 0; i < 16; i = i + 1)
            pair[i] = 16'hffff - i;
    end

    always @(posedge clk) begin
        if (write0)
            pair[address0[3:0]] <= data0[15:0];
        if (write1)
            pair[address1[3:0]] <= data1[15:0];
        first <= reset ? 15'd0 : pair[address0[3:0]];
        second <= reset ? 15'd0 : pair[address1[3:0]];
    end

    // A table: every word is 5 n + n n / 4, in eight bits.
    reg [7:0] table_words [0:255];

    initial begin : fill_table
        integer i;
        for (i = 0; i < 256; i = i + 1)
            table_words[i] = 5 * i + i * i / 4;
    end

    always @(posedge clk)
        constant <= reset ? 8'd0 : table_words[address0 ^ address1];

    (* keep_memory *)
    reg [12:0] uneven [0:99];

    initial begin : clear_uneven
        integer i;
        for (i = 0; i < 100; i = i + 1)
            uneven[i] = 13'd0;
    end

    always @(posedge clk) begin
        if (write0 && address0 < 8'd100)
            uneven[address0[6:0]] <= data0[12:0];
        odd <= reset || address1 >= 8'd100 ? 13'd0 : uneven[address1[6:0]];
    end
endmodule
