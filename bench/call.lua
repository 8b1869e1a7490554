-- Sends one request repeatedly. The last line of the output is a JSON object with the figures.
wrk.method = "POST"
wrk.body = os.getenv("BENCH_BODY")
for name, value in string.gmatch(os.getenv("BENCH_HEADERS"), "([^:\n]+): ([^\n]+)") do
    wrk.headers[name] = value
end

done = function(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,' ..
        '"refused":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d}\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        errors.status, errors.connect, errors.read, errors.write, errors.timeout
    ))
end
