// SPDX-License-Identifier: Apache-2.0
//
// An APB3 master that writes two words to a slave and reads them back, then rests. The bus signals
// are ports, so that a bus trace can follow them.
`default_nettype none

module apb_master (
    input  wire        clk,
    input  wire        reset_n,
    output wire        psel,
    output wire        penable,
    output wire        pwrite,
    output wire [31:0] paddr,
    output wire [31:0] pwdata,
    input  wire [31:0] prdata,
    input  wire        pready,
    input  wire        pslverr,
    output reg         done,
    output reg         failed
);
    localparam [1:0] IDLE = 2'd0, SETUP = 2'd1, ACCESS = 2'd2;

    reg [1:0] state;
    reg [1:0] transfer;     // 0, 1: writes of word 0, 1; 2, 3: reads of them

    wire [31:0] word = transfer[0] ? 32'h12345678 : 32'hcafebabe;
    wire        wrong = pslverr | (transfer[1] & (prdata != word));

    assign psel = state != IDLE;
    assign penable = state == ACCESS;
    assign pwrite = psel & ~transfer[1];
    assign paddr = psel ? {29'd0, transfer[0], 2'b00} : 32'd0;
    assign pwdata = pwrite ? word : 32'd0;

    always @(posedge clk or negedge reset_n)
        if (!reset_n) begin
            state <= IDLE;
            transfer <= 2'd0;
            done <= 1'b0;
            failed <= 1'b0;
        end else
            case (state)
                IDLE:
                    if (!done)
                        state <= SETUP;
                SETUP:
                    state <= ACCESS;
                default:
                    if (pready) begin
                        state <= IDLE;
                        transfer <= transfer + 2'd1;
                        done <= transfer == 2'd3;
                        failed <= failed | wrong;
                    end
            endcase
endmodule

// Two words of storage; never waits, and answers addresses beyond them with an error.
module apb_slave (
    input  wire        clk,
    input  wire        reset_n,
    input  wire        psel,
    input  wire        penable,
    input  wire        pwrite,
    input  wire [31:0] paddr,
    input  wire [31:0] pwdata,
    output wire [31:0] prdata,
    output wire        pready,
    output wire        pslverr
);
    reg [31:0] word0, word1;

    wire access = psel & penable;
    wire beyond = |paddr[31:3];

    assign pready = 1'b1;
    assign pslverr = access & beyond;
    assign prdata = psel & ~pwrite & ~beyond ? (paddr[2] ? word1 : word0) : 32'd0;

    always @(posedge clk or negedge reset_n)
        if (!reset_n) begin
            word0 <= 32'd0;
            word1 <= 32'd0;
        end else if (access & pwrite & ~beyond) begin
            if (paddr[2])
                word1 <= pwdata;
            else
                word0 <= pwdata;
        end
endmodule

module apb (
    input  wire        clk,
    input  wire        reset_n,
    output wire        psel,
    output wire        penable,
    output wire        pwrite,
    output wire [31:0] paddr,
    output wire [31:0] pwdata,
    output wire [31:0] prdata,
    output wire        pready,
    output wire        pslverr,
    output wire        done,
    output wire        failed
);
    apb_master master (
        .clk(clk), .reset_n(reset_n), .psel(psel), .penable(penable), .pwrite(pwrite),
        .paddr(paddr), .pwdata(pwdata), .prdata(prdata), .pready(pready), .pslverr(pslverr),
        .done(done), .failed(failed));
    apb_slave slave (
        .clk(clk), .reset_n(reset_n), .psel(psel), .penable(penable), .pwrite(pwrite),
        .paddr(paddr), .pwdata(pwdata), .prdata(prdata), .pready(pready), .pslverr(pslverr));
endmodule
