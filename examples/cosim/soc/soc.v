// SPDX-License-Identifier: Apache-2.0
//
// A system on a chip: a RV32I core, RAM that is filled from SPI flash before the core starts, a UART
// and eight pins of output and input.
//
//   0x00000000  RAM, 8 KiB
//   0x10000000  UART data: a write sends a byte, a read takes the oldest one received
//   0x10000004  UART status: bit 0 sending, bit 1 a byte has been received
//   0x10000008  UART divisor: cycles a bit, 8 after reset
//   0x20000000  GPIO: a write sets the output pins, a read gives the input pins
//
// Other addresses read as 0, and writes to them do nothing.
`default_nettype none

module soc (
    input  wire       clk,
    input  wire       reset,            // synchronous
    output wire       uart_tx,
    input  wire       uart_rx,
    output wire       flash_sck,
    output wire       flash_csn,
    output wire       flash_mosi,
    input  wire       flash_miso,
    output reg  [7:0] gpio_out,
    input  wire [7:0] gpio_in,
    output wire       booted,           // the firmware is in RAM and runs
    output wire       stopped           // the core met an instruction it does not have
);
    localparam WORDS = 2048;

    wire [31:0] address, write_data, boot_data;
    wire [3:0]  write_mask;
    wire        read;
    reg  [31:0] read_data;
    wire        boot_write;
    wire [13:0] boot_word;

    boot loader (
        .clk(clk), .reset(reset), .sck(flash_sck), .csn(flash_csn), .mosi(flash_mosi),
        .miso(flash_miso), .write(boot_write), .write_word(boot_word), .write_data(boot_data),
        .done(booted));

    // The last word is written in the cycle after `booted` rises, when the core is still held.
    rv32i core (
        .clk(clk), .reset(reset | ~booted | boot_write), .address(address), .read(read),
        .write_mask(write_mask), .write_data(write_data), .read_data(read_data),
        .stopped(stopped));

    // ---- RAM: one port for the core and the loader ----

    (* keep_memory *)
    reg [31:0] ram [0:WORDS - 1];
    reg [31:0] ram_data;

    wire        in_ram = address[31:13] == 19'd0;
    wire [10:0] ram_word = boot_write ? boot_word[10:0] : address[12:2];
    wire [31:0] ram_input = boot_write ? boot_data : write_data;
    wire [3:0]  ram_mask = boot_write ? 4'b1111 : in_ram ? write_mask : 4'd0;

    always @(posedge clk) begin : access_ram
        integer i;
        for (i = 0; i < 4; i = i + 1)
            if (ram_mask[i])
                ram[ram_word][8 * i +: 8] <= ram_input[8 * i +: 8];
        ram_data <= ram[ram_word];
    end

    // ---- peripherals; what they answer is held until the core looks at it ----

    wire in_uart = address[31:28] == 4'h1;
    wire in_gpio = address[31:28] == 4'h2;
    wire write = write_mask[0];

    reg  [15:0] divisor;
    wire [7:0]  received;
    wire        sending, has_received;

    uart serial (
        .clk(clk), .reset(reset), .divisor(divisor), .tx(uart_tx), .rx(uart_rx),
        .send(write && in_uart && address[3:2] == 2'd0), .send_data(write_data[7:0]),
        .sending(sending),
        .take(read && in_uart && address[3:2] == 2'd0), .received(received),
        .has_received(has_received));

    reg        from_ram;
    reg [15:0] peripheral_data;

    always @(posedge clk)
        if (reset) begin
            from_ram <= 1'b1;
            peripheral_data <= 16'd0;
            divisor <= 16'd8;
            gpio_out <= 8'd0;
        end else begin
            from_ram <= in_ram;
            peripheral_data <=
                in_gpio ? {8'd0, gpio_in} :
                !in_uart ? 16'd0 :
                address[3:2] == 2'd0 ? {8'd0, received} :
                address[3:2] == 2'd1 ? {14'd0, has_received, sending} :
                address[3:2] == 2'd2 ? divisor : 16'd0;
            if (write && in_uart && address[3:2] == 2'd2)
                divisor <= write_data[15:0];
            if (write && in_gpio)
                gpio_out <= write_data[7:0];
        end

    always @*
        read_data = from_ram ? ram_data : {16'd0, peripheral_data};
endmodule
