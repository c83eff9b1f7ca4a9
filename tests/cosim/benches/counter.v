// SPDX-License-Identifier: Apache-2.0
`timescale 1ns / 1ps

module bench;
    reg clk = 0, reset = 1, enable = 0;
    wire [7:0] count;
    wire last;
    integer wraps = 0;

    counter dut (.clk(clk), .reset(reset), .enable(enable), .count(count), .last(last));

    always #20 clk = ~clk;
    always @(posedge clk) if (last && enable && !reset) wraps = wraps + 1;

    initial begin
        repeat (3) @(posedge clk);
        reset <= 0;
        repeat (5) @(posedge clk);
        enable <= 1;
        repeat (300) @(posedge clk);
        enable <= 0;
        repeat (5) @(posedge clk);
        $display("count %0d wraps %0d", count, wraps);
        $finish;
    end
endmodule

// expect: count 44 wraps 1
