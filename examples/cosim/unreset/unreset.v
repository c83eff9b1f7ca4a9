// SPDX-License-Identifier: Apache-2.0
//
// State that nothing resets, beside state that is: a counter without a reset, a toggle with one, and
// a flip-flop with a reset that samples an input nobody drives. In a two-valued simulation all of it
// starts at 0; a four-valued one knows the counter never.
`default_nettype none

module unreset (
    input  wire       clk,
    input  wire       reset,        // synchronous
    input  wire       undriven,
    output reg  [3:0] count,
    output reg        toggle,
    output reg        sampled,
    output wire       mixed
);
    assign mixed = toggle ^ undriven;

    always @(posedge clk)
        count <= count + 4'd1;

    always @(posedge clk)
        if (reset) begin
            toggle <= 1'b0;
            sampled <= 1'b0;
        end else begin
            toggle <= ~toggle;
            sampled <= undriven;
        end
endmodule
