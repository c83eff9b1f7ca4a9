// SPDX-License-Identifier: Apache-2.0
`timescale 1ns / 1ps

module bench;
    reg clk = 0, reset_n = 0;
    wire psel, penable, pwrite, pready, pslverr, done, failed;
    wire [31:0] paddr, pwdata, prdata;
    integer cycle = 0;

    apb dut (.clk(clk), .reset_n(reset_n), .psel(psel), .penable(penable), .pwrite(pwrite),
        .paddr(paddr), .pwdata(pwdata), .prdata(prdata), .pready(pready), .pslverr(pslverr),
        .done(done), .failed(failed));

    always #20 clk = ~clk;

    always @(posedge clk) begin
        if (psel && penable && pready)
            $display("%0d %0s 0x%0h 0x%8h", cycle, pwrite ? "write" : "read", paddr,
                pwrite ? pwdata : prdata);
        cycle = cycle + 1;
    end

    initial begin
        repeat (10) @(posedge clk);
        reset_n <= 1;
        repeat (50) @(posedge clk);
        $display("done %b failed %b", done, failed);
        $finish;
    end
endmodule

// expect: 12 write 0x0 0xcafebabe
// expect: 15 write 0x4 0x12345678
// expect: 18 read 0x0 0xcafebabe
// expect: 21 read 0x4 0x12345678
// expect: done 1 failed 0
