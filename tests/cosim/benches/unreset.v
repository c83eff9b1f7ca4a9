// SPDX-License-Identifier: Apache-2.0
`timescale 1ns / 1ps

module bench;
    reg clk = 0, reset = 1;
    wire [3:0] count;
    wire toggle, sampled, mixed;

    unreset dut (.clk(clk), .reset(reset), .undriven(1'bx), .count(count), .toggle(toggle),
        .sampled(sampled), .mixed(mixed));

    always #20 clk = ~clk;

    initial begin
        repeat (10) @(posedge clk);
        #1 $display("count %b toggle %b sampled %b mixed %b", count, toggle, sampled, mixed);
        reset <= 0;
        repeat (3) @(posedge clk);
        #1 $display("count %b toggle %b sampled %b mixed %b", count, toggle, sampled, mixed);
        $finish;
    end
endmodule

// expect: count xxxx toggle 0 sampled 0 mixed x
// expect: count xxxx toggle 1 sampled x mixed x
