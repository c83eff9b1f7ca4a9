// SPDX-License-Identifier: Apache-2.0
//
// Every clock structure that a simulator of gates should get right, side by side: a clock divided by
// a flip-flop, a clock chosen by a multiplexer, a clock gated by a latch and an AND gate, the falling
// edge, asynchronous set and reset, a level-sensitive latch, and data that crosses between two clocks
// whose edges may coincide.
//
// `choose` is meant to change while both clocks are low; all other inputs may change at any time, also
// together with an edge, which then still sees their value of before.
`default_nettype none

module clocks (
    input  wire       clk_a,
    input  wire       clk_b,
    input  wire       reset_n,      // asynchronous
    input  wire       set,          // asynchronous, of `captured` only
    input  wire       choose,
    input  wire       enable,
    input  wire       hold,
    input  wire [7:0] data,
    output reg        half,         // clk_a divided by two
    output reg  [7:0] slow,         // counts edges of `half`
    output reg  [7:0] chosen,       // counts edges of the chosen clock
    output reg  [7:0] gated,        // counts edges of clk_a that `enable` lets through
    output reg  [7:0] falling,      // samples on falling edges of clk_a
    output reg  [7:0] captured,     // flip-flops with both set and reset
    output reg  [7:0] latched,      // transparent while `hold` is low
    output reg  [7:0] crossed,      // data sampled by clk_a, then by clk_b
    output wire       clk_chosen,
    output wire       clk_gated
);
    // A clock made by a flip-flop: what it clocks sees the values of after the edge that made it.
    always @(posedge clk_a or negedge reset_n)
        if (!reset_n)
            half <= 1'b0;
        else
            half <= ~half;

    always @(posedge half or negedge reset_n)
        if (!reset_n)
            slow <= 8'd0;
        else
            slow <= slow + 8'd1;

    assign clk_chosen = choose ? clk_b : clk_a;

    always @(posedge clk_chosen or negedge reset_n)
        if (!reset_n)
            chosen <= 8'd0;
        else
            chosen <= chosen + 8'd1;

    // The usual clock gate: the enable is held while the clock is high, so that no pulse is cut.
    reg pass;

    always @*
        if (!clk_a)
            pass = enable;

    assign clk_gated = clk_a & pass;

    always @(posedge clk_gated or negedge reset_n)
        if (!reset_n)
            gated <= 8'd0;
        else
            gated <= gated + 8'd1;

    always @(negedge clk_a or negedge reset_n)
        if (!reset_n)
            falling <= 8'd0;
        else
            falling <= data ^ {falling[6:0], falling[7]};

    // Set and reset never act together: tools do not agree which of them wins.
    wire set_now = set & reset_n;

    always @(posedge clk_b or negedge reset_n or posedge set_now)
        if (!reset_n)
            captured <= 8'd0;
        else if (set_now)
            captured <= 8'hff;
        else
            captured <= data;

    always @*
        if (!hold)
            latched = data;

    reg [7:0] sampled;

    always @(posedge clk_a or negedge reset_n)
        if (!reset_n)
            sampled <= 8'd0;
        else
            sampled <= data;

    always @(posedge clk_b or negedge reset_n)
        if (!reset_n)
            crossed <= 8'd0;
        else
            crossed <= sampled;
endmodule
