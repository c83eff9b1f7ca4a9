// SPDX-License-Identifier: Apache-2.0
//
// An eight bit counter with an enable and a synchronous reset: the smallest design worth running.
`default_nettype none

module counter (
    input  wire       clk,
    input  wire       reset,
    input  wire       enable,
    output reg  [7:0] count,
    output wire       last      // the next enabled edge wraps
);
    assign last = count == 8'hff;

    always @(posedge clk)
        if (reset)
            count <= 8'd0;
        else if (enable)
            count <= count + 8'd1;
endmodule
