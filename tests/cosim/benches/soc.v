// SPDX-License-Identifier: Apache-2.0
//
// The SoC with its flash and a terminal: waits for the prompt, types a line, waits for the next one.
// +flash=FILE names the image as $readmemh reads it.
`timescale 1ns / 1ps

module bench;
    reg clk = 0, reset = 1, line = 1;
    wire tx, sck, csn, mosi, miso, booted, stopped;
    wire [7:0] pins;
    reg [8 * 256 - 1:0] file;
    integer cycle = 0, i, j;
    reg [8 * 5 - 1:0] typed = "Hi, 5";

    soc dut (.clk(clk), .reset(reset), .uart_tx(tx), .uart_rx(line), .flash_sck(sck),
        .flash_csn(csn), .flash_mosi(mosi), .flash_miso(miso), .gpio_out(pins),
        .gpio_in(8'h00), .booted(booted), .stopped(stopped));
    spi_flash flash (.sck(sck), .csn(csn), .mosi(mosi), .miso(miso));
    uart_listener #(.QUIET(1)) terminal (.clk(clk), .line(tx));

    always #20 clk = ~clk;
    always @(posedge clk) cycle = cycle + 1;
    always @(posedge booted) $display("[booted at cycle %0d]", cycle);

    task type_byte(input [7:0] value);
        begin
            line <= 0;
            repeat (8) @(posedge clk);
            for (j = 0; j < 8; j = j + 1) begin
                line <= value[j];
                repeat (8) @(posedge clk);
            end
            line <= 1;
            repeat (8) @(posedge clk);
        end
    endtask

    initial begin
        #1;
        if ($value$plusargs("flash=%s", file))
            $readmemh(file, flash.store);
        repeat (10) @(posedge clk);
        reset <= 0;
        while (terminal.value !== ">") @(posedge clk);
        repeat (100) @(posedge clk);
        $display("[prompt at cycle %0d]", cycle);
        for (i = 4; i >= 0; i = i - 1)
            type_byte(typed[8 * i +: 8]);
        type_byte(8'h0d);
        repeat (1000) @(posedge clk);
        $display("\n[pins %0d stopped %b]", pins, stopped);
        $finish;
    end

    initial begin
        #8000000 $display("\nno prompt in 200,000 cycles; stopped %b", stopped);
        $finish;
    end
endmodule

// expect: [booted at cycle 6836]
// expect: Lockstep SoC ready
// expect: checksum CHECKSUM
// expect: >[prompt at cycle 12424]
// expect:  HI, 5
// expect: >
// expect: [pins 1 stopped 0]
