// SPDX-License-Identifier: Apache-2.0
//
// A fan that is driven by the temperature: every 256 clocks the temperature, a byte, is read over SPI
// (mode 0, high bits first), and the fan gets a pulse width modulated output: off up to 20 degrees,
// a sixteenth more with every degree.
`default_nettype none

module fan (
    input  wire       clk,
    input  wire       reset,            // synchronous
    output reg        sck,
    output reg        csn,
    input  wire       miso,
    output reg  [7:0] temperature,
    output wire       pwm
);
    reg [7:0] count;                    // place in the period
    reg [7:0] shift;
    reg [7:0] duty;

    assign pwm = count < duty;

    always @(posedge clk)
        if (reset) begin
            count <= 8'd0;
            csn <= 1'b1;
            sck <= 1'b0;
            shift <= 8'd0;
            temperature <= 8'd0;
            duty <= 8'd0;
        end else begin
            count <= count + 8'd1;
            if (count == 8'd2)
                csn <= 1'b0;
            if (count >= 8'd4 && count < 8'd36) begin
                // Four clocks a bit.
                if (count[1:0] == 2'd0) begin
                    sck <= 1'b1;
                    shift <= {shift[6:0], miso};
                end
                if (count[1:0] == 2'd2)
                    sck <= 1'b0;
            end
            if (count == 8'd38)
                csn <= 1'b1;
            if (count == 8'd255) begin
                temperature <= shift;
                duty <= shift <= 8'd20 ? 8'd0 : shift >= 8'd36 ? 8'd255 :
                    {shift[3:0] - 4'd4, 4'd0};
            end
        end
endmodule
