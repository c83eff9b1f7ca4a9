// SPDX-License-Identifier: Apache-2.0
`timescale 1ns / 1ps

module bench;
    reg clk = 0, reset_n = 0;
    wire tx0, tx1, done;

    dual_uart dut (.clk(clk), .reset_n(reset_n), .tx0(tx0), .tx1(tx1), .done(done));
    uart_listener #(.CYCLES_PER_BIT(217), .NAME("uart0")) listener0 (.clk(clk), .line(tx0));
    uart_listener #(.CYCLES_PER_BIT(217), .NAME("uart1")) listener1 (.clk(clk), .line(tx1));

    always #20 clk = ~clk;

    initial begin
        repeat (10) @(posedge clk);
        reset_n <= 1;
        repeat (4900) @(posedge clk);
        $display("done %b", done);
        $finish;
    end
endmodule

// expect: uart0: H
// expect: uart1: O
// expect: uart0: i
// expect: uart1: K
// expect: done 1
