-- Wireshark dissector for the Model Context Protocol, as exported by `assay report RUN --format pcapng`.
--
--   tshark -X lua_script:contrib/wireshark/mcp.lua -r traffic.pcapng -Y mcp_msg
--
-- Lines of standard streams are packets of link type USER0: a byte for the sender (0 client, 1 server), a byte for the
-- stream (0 messages, 1 standard error), and the line. In HTTP and WebSocket, messages are found in the payload.

local mcp = Proto("mcp_msg", "Model Context Protocol")

local senders = { [0] = "client", [1] = "server" }
local streams = { [0] = "messages", [1] = "standard error" }
local sender = ProtoField.uint8("mcp_msg.sender", "Sender", base.DEC, senders)
local stream = ProtoField.uint8("mcp_msg.stream", "Stream", base.DEC, streams)
local kind = ProtoField.string("mcp_msg.kind", "Kind")
local method = ProtoField.string("mcp_msg.method", "Method")
local id = ProtoField.string("mcp_msg.id", "Id")
local tool = ProtoField.string("mcp_msg.name", "Name")
local code = ProtoField.string("mcp_msg.error.code", "Error code")
mcp.fields = { sender, stream, kind, method, id, tool, code }

local json = Dissector.get("json")
local LONGEST = 65536

-- What a message is, by its members. Strings inside of values could be taken for members, so this is a guide only.
local function read(text)
    local found = {
        method = text:match('"method"%s*:%s*"([^"]*)"'),
        id = text:match('"id"%s*:%s*("[^"]*")') or text:match('"id"%s*:%s*(%-?%d+)'),
        tool = text:match('"params"%s*:%s*{.-"name"%s*:%s*"([^"]*)"'),
        code = text:match('"error"%s*:%s*{.-"code"%s*:%s*(%-?%d+)'),
    }
    if found.method then
        found.kind = found.id and "request" or "notification"
    elseif text:find('"error"%s*:') then
        found.kind = "error"
    elseif text:find('"result"%s*:') then
        found.kind = "result"
    end
    return found
end

local function describe(text, tree, pinfo)
    if not text:find('"jsonrpc"', 1, true) then return false end
    local found = read(text:sub(1, LONGEST))
    if found.kind then tree:add(kind, found.kind) end
    if found.method then tree:add(method, found.method) end
    if found.id then tree:add(id, found.id) end
    if found.tool then tree:add(tool, found.tool) end
    if found.code then tree:add(code, found.code) end
    local words = { "MCP", found.kind or "message", found.method or "", found.tool or "", found.code or "" }
    if found.id then words[#words + 1] = "id " .. found.id end
    pinfo.cols.info:prepend(table.concat(words, " "):gsub("%s+", " ") .. " | ")
    return true
end

function mcp.dissector(buffer, pinfo, root)
    if buffer:len() < 2 then return end
    local tree = root:add(mcp, buffer())
    tree:add(sender, buffer(0, 1))
    tree:add(stream, buffer(1, 1))
    pinfo.cols.protocol = "MCP"
    pinfo.cols.src = senders[buffer(0, 1):uint()] or "?"
    pinfo.cols.info = ""
    if buffer:len() == 2 then return end
    local line = buffer(2)
    if buffer(1, 1):uint() == 0 then
        describe(line:string(), tree, pinfo)
        json:call(line:tvb(), pinfo, tree)
    else
        pinfo.cols.info = "standard error: " .. line:string():sub(1, 200)
    end
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, mcp)

-- Messages inside of HTTP and WebSocket.
local over = Proto("mcp_http_msg", "Model Context Protocol over HTTP")
local bodies = { Field.new("http.file_data"), Field.new("websocket.payload.text") }

function over.dissector(_, pinfo, root)
    for _, field in ipairs(bodies) do
        for _, info in ipairs({ field() }) do
            local text = info.range and info.range:string() or tostring(info.value)
            if text:find('"jsonrpc"', 1, true) then
                local tree = root:add(mcp, info.range)
                describe(text, tree, pinfo)
            end
        end
    end
end

register_postdissector(over)
