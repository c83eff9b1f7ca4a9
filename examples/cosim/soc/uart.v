// SPDX-License-Identifier: Apache-2.0
//
// A UART: eight data bits, no parity, one stop bit. `divisor` is the length of a bit in cycles, at
// least 4. Received bytes wait in a queue of eight; bytes that find it full are dropped, as are bytes
// without a stop bit.
`default_nettype none

module uart (
    input  wire        clk,
    input  wire        reset,
    input  wire [15:0] divisor,
    output wire        tx,
    input  wire        rx,
    input  wire        send,            // takes `send_data` unless `sending`
    input  wire [7:0]  send_data,
    output wire        sending,
    input  wire        take,            // removes the oldest byte received
    output wire [7:0]  received,
    output wire        has_received
);
    // ---- sending ----

    reg [9:0]  out;                     // the bit on the line and those behind it
    reg [3:0]  out_left;
    reg [15:0] out_timer;

    assign tx = out[0];
    assign sending = out_left != 4'd0;

    always @(posedge clk)
        if (reset) begin
            out <= 10'h3ff;
            out_left <= 4'd0;
            out_timer <= 16'd0;
        end else if (!sending) begin
            if (send) begin
                out <= {1'b1, send_data, 1'b0};
                out_left <= 4'd10;
                out_timer <= divisor - 16'd1;
            end
        end else if (out_timer != 16'd0)
            out_timer <= out_timer - 16'd1;
        else begin
            out <= {1'b1, out[9:1]};
            out_left <= out_left - 4'd1;
            out_timer <= divisor - 16'd1;
        end

    // ---- receiving ----

    reg [2:0]  line;                    // the last samples of rx, two of them to cross the clocks
    reg        receiving;
    reg [3:0]  in_left;
    reg [15:0] in_timer;
    reg [7:0]  in;
    reg        arrived;                 // `in` is whole, for one cycle

    always @(posedge clk)
        if (reset) begin
            line <= 3'b111;
            receiving <= 1'b0;
            in_left <= 4'd0;
            in_timer <= 16'd0;
            in <= 8'd0;
            arrived <= 1'b0;
        end else begin
            line <= {line[1:0], rx};
            arrived <= 1'b0;
            if (!receiving) begin
                if (line[2:1] == 2'b10) begin
                    receiving <= 1'b1;
                    in_left <= 4'd10;
                    in_timer <= (divisor >> 1) - 16'd1;
                end
            end else if (in_timer != 16'd0)
                in_timer <= in_timer - 16'd1;
            else begin
                in_timer <= divisor - 16'd1;
                in_left <= in_left - 4'd1;
                if (in_left == 4'd10) begin
                    if (line[1])        // not a start bit, but a spike
                        receiving <= 1'b0;
                end else if (in_left == 4'd1) begin
                    receiving <= 1'b0;
                    arrived <= line[1];
                end else
                    in <= {line[1], in[7:1]};
            end
        end

    // ---- the queue ----

    reg [7:0] queue [0:7];
    reg [3:0] first, last;              // one bit more than a place needs

    wire full = last - first == 4'd8;

    assign has_received = first != last;
    assign received = queue[first[2:0]];

    always @(posedge clk) begin
        if (arrived && !full)
            queue[last[2:0]] <= in;
        if (reset) begin
            first <= 4'd0;
            last <= 4'd0;
        end else begin
            if (arrived && !full)
                last <= last + 4'd1;
            if (take && has_received)
                first <= first + 4'd1;
        end
    end
endmodule
