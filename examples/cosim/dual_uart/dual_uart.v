// SPDX-License-Identifier: Apache-2.0
//
// Two transmitters that each send a two letter greeting once after reset, at 115200 baud from a
// 25 MHz clock: 217 cycles a bit, one start bit, eight data bits with the lowest first, one stop bit.
// The second starts a bit and a half after the first, so that their bytes end at different edges.
`default_nettype none

module greeter #(
    parameter [7:0]  FIRST = 8'h00,
    parameter [7:0]  SECOND = 8'h00,
    parameter [15:0] CYCLES_PER_BIT = 16'd217,
    parameter [15:0] WAIT = 16'd1
) (
    input  wire clk,
    input  wire reset_n,
    output wire tx,
    output wire done
);
    // Twenty bits, sent from the right: both bytes with their start and stop bits.
    localparam [19:0] BITS = {1'b1, SECOND, 1'b0, 1'b1, FIRST, 1'b0};

    reg [20:0] shift;   // the bit on the line and those that follow; ones come in from the left
    reg [4:0]  left;    // bits still to send
    reg [15:0] timer;   // cycles until the next bit

    assign tx = shift[0];
    assign done = left == 5'd0 && timer == 16'd0;

    always @(posedge clk or negedge reset_n)
        if (!reset_n) begin
            shift <= {BITS, 1'b1};
            left <= 5'd20;
            timer <= WAIT;
        end else if (timer != 16'd0)
            timer <= timer - 16'd1;
        else if (left != 5'd0) begin
            shift <= {1'b1, shift[20:1]};
            left <= left - 5'd1;
            timer <= CYCLES_PER_BIT - 16'd1;
        end
endmodule

module dual_uart (
    input  wire clk,
    input  wire reset_n,
    output wire tx0,
    output wire tx1,
    output wire done
);
    wire done0, done1;

    assign done = done0 & done1;

    greeter #(.FIRST("H"), .SECOND("i")) first (
        .clk(clk), .reset_n(reset_n), .tx(tx0), .done(done0));
    greeter #(.FIRST("O"), .SECOND("K"), .WAIT(16'd325)) second (
        .clk(clk), .reset_n(reset_n), .tx(tx1), .done(done1));
endmodule
