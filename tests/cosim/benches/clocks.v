// SPDX-License-Identifier: Apache-2.0
`timescale 1ns / 1ps

module bench;
    reg clk_a = 0, clk_b = 0, reset_n = 1, set = 0, choose = 0, enable = 1, hold = 1;
    reg [7:0] data = 8'h5a;
    wire half, clk_chosen, clk_gated;
    wire [7:0] slow, chosen, gated, falling, captured, latched, crossed;
    integer edges_a = 0, edges_b = 0;

    clocks dut (.clk_a(clk_a), .clk_b(clk_b), .reset_n(reset_n), .set(set), .choose(choose),
        .enable(enable), .hold(hold), .data(data), .half(half), .slow(slow), .chosen(chosen),
        .gated(gated), .falling(falling), .captured(captured), .latched(latched),
        .crossed(crossed), .clk_chosen(clk_chosen), .clk_gated(clk_gated));

    always #20 clk_a = ~clk_a;
    always #30 clk_b = ~clk_b;

    task show;
        $display("slow %0d chosen %0d gated %0d falling %h captured %h latched %h crossed %h",
            slow, chosen, gated, falling, captured, latched, crossed);
    endtask

    initial begin
        #2 reset_n = 0;
        enable = 0;
        hold = 0;
        #3 reset_n = 1;
        #400 show;                  // ten edges of a: five of half, all chosen, none gated
        enable = 1;                 // clk_a is low
        #400 show;                  // ten more, all gated
        choose = 1;
        #600 show;                  // ten edges of b
        hold = 1;
        data = 8'hc3;
        #120 show;
        set = 1;
        #1 show;
        reset_n = 0;
        #1 show;
        $finish;
    end
endmodule

// expect: slow 5 chosen 10 gated 0 falling ee captured 5a latched 5a crossed 5a
// expect: slow 10 chosen 20 gated 10 falling 55 captured 5a latched 5a crossed 5a
// expect: slow 18 chosen 30 gated 25 falling 87 captured 5a latched 5a crossed 5a
// expect: slow 19 chosen 32 gated 28 falling 77 captured c3 latched 5a crossed c3
// expect: slow 19 chosen 32 gated 28 falling 77 captured ff latched 5a crossed c3
// expect: slow 0 chosen 0 gated 0 falling 00 captured 00 latched 5a crossed 00
