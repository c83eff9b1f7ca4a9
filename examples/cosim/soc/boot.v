// SPDX-License-Identifier: Apache-2.0
//
// Copies the firmware from SPI flash into RAM after reset. The first word of the flash is the length
// of what follows, in words; all words are stored with their lowest byte first. One read command (0x03
// and a 24 bit address) fetches everything.
//
// SPI mode 0 at half the clock: data is put out when sck falls and taken when it rises.
`default_nettype none

module boot #(
    parameter [23:0] FLASH_ADDRESS = 24'd0
) (
    input  wire        clk,
    input  wire        reset,
    output reg         sck,
    output reg         csn,
    output wire        mosi,
    input  wire        miso,
    output reg         write,           // for one cycle a word
    output reg  [13:0] write_word,      // its index in RAM
    output wire [31:0] write_data,
    output reg         done
);
    reg [31:0] out;
    reg [31:0] in;
    reg [5:0]  left;                    // bits until a word is whole
    reg        has_command;             // the command has been sent
    reg        has_length;
    reg [13:0] length;

    assign mosi = out[31];
    assign write_data = {in[7:0], in[15:8], in[23:16], in[31:24]};

    always @(posedge clk)
        if (reset) begin
            sck <= 1'b0;
            csn <= 1'b1;
            out <= {8'h03, FLASH_ADDRESS};
            in <= 32'd0;
            left <= 6'd32;
            has_command <= 1'b0;
            has_length <= 1'b0;
            length <= 14'd0;
            write <= 1'b0;
            write_word <= 14'd0;
            done <= 1'b0;
        end else begin
            write <= 1'b0;
            if (write)
                write_word <= write_word + 14'd1;
            if (done)
                csn <= 1'b1;
            else if (csn)
                csn <= 1'b0;
            else if (left == 6'd0) begin
                left <= 6'd32;
                has_command <= 1'b1;
                if (has_command && !has_length) begin
                    has_length <= 1'b1;
                    length <= write_data[13:0];
                    done <= write_data[13:0] == 14'd0;
                end else if (has_length) begin
                    write <= 1'b1;
                    length <= length - 14'd1;
                    done <= length == 14'd1;
                end
            end else if (!sck) begin
                sck <= 1'b1;
                in <= {in[30:0], miso};
            end else begin
                sck <= 1'b0;
                out <= {out[30:0], 1'b0};
                left <= left - 6'd1;
            end
        end
endmodule
