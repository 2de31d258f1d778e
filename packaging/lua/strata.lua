---@meta strata
-- What scripts of strata see, for lua-language-server. Made from the program's own tables.

---@class strata.request
---@field method string
---@field path string decoded
---@field target string as sent
---@field query table<string, string>
---@field headers table<string, string> names in lower case
---@field body string
---@field version integer 11 is HTTP/1.1
---@field peer string
---@field is_secure boolean
---@field params? table<string, string> set by a router

---@alias strata.route fun(request: strata.request, params: table<string, string>): any
---@class strata.router
---@field answer fun(self: strata.router, request: strata.request): any
---@field on fun(self: strata.router, method: string, path: string, handle: strata.route): any
---@field get fun(self: strata.router, path: string, handle: strata.route): strata.router
---@field post fun(self: strata.router, path: string, handle: strata.route): strata.router
---@field put fun(self: strata.router, path: string, handle: strata.route): strata.router
---@field patch fun(self: strata.router, path: string, handle: strata.route): strata.router
---@field delete fun(self: strata.router, path: string, handle: strata.route): strata.router

strata = {json = {null = nil}, base64 = {}, url = {}, shared = {}}

---routes requests by method and path: '/users/:name', '/files/*'
---@return strata.router
function strata.router() end

---what strata.connect gives
---@class strata.connection
local connection = {}

---sends a message, or bytes; gives true, or nil and the reason, as when 4 MiB wait already
---@param bytes string
---@return boolean?, string?
function connection:send(bytes) end

---the next message, or bytes of a stream; or nil and 'timeout', 'closed' or another reason
---@param seconds? number
---@return string?, string?
function connection:receive(seconds) end

---the next line of a stream, without its end; else the same
---@param seconds? number
---@return string?, string?
function connection:receive_line(seconds) end

---waits until all has been sent
---@param seconds? number
---@return boolean?, string?
function connection:flush(seconds) end

---closes it; what was sent before still goes
function connection:close() end

---neither side has closed it
---@return boolean
function connection:is_open() end

---what strata.redis gives
---@class strata.redis
local redis = {}

---asks for a command, and waits: db:call('SET', 'k', 1), which db:set('k', 1) is too;
---nothing is nil, and within lists strata.json.null; an error is nil and its text
---@param command string
---@param ... any
---@return any, string?
function redis:call(command, ...) end

---a transaction: db:multi{{'SET', 'k', 1}, {'INCR', 'k'}} gives the list of answers, of
---which one that is an error is {err=}
---@param commands table[]
---@return table?, string?
function redis:multi(commands) end

---closes the connection
function redis:close() end

---writes a line to the runtime's log; of a table, its fields: {level='warning',
---message='full', n=3}
---@param message any
---@param level? string
function strata.log(message, level) end

---seconds since 1970, with their fractions
---@return number
function strata.now() end

---seconds of a clock that nobody sets, to measure with
---@return number
function strata.clock() end

---waits; nothing else waits meanwhile
---@param seconds number
function strata.sleep(seconds) end

---calls a function once, later; gives a number for clear_timeout
---@param ms number
---@param call fun()
---@return integer
function strata.set_timeout(ms, call) end

---calls a function again and again; gives a number for clear_interval
---@param ms number
---@param call fun()
---@return integer
function strata.set_interval(ms, call) end

---takes back a set_timeout
---@param timer integer
function strata.clear_timeout(timer) end

---ends a set_interval
---@param timer integer
function strata.clear_interval(timer) end

---looks up the addresses of a host's name, and waits for them
---@param host string
---@return string[]?, string?
function strata.resolve(host) end

---asks a web server ({url=, method=, headers=, body=, timeout_ms=5000}), and waits for {ok=,
---status=, headers=, body=}, or {ok=false, error=}
---@param request table
---@return table
function strata.http(request) end

---creates a runtime, owned by this one, and starts it but for start=false; one of that name
---that this one owns is changed instead; gives what it is, or nil and the reason
---@param type string
---@param name string
---@param options? table
---@return table?, string?
function strata.create(type, name, options) end

---starts a runtime
---@param name string
---@return table?, string?
function strata.start(name) end

---stops a runtime
---@param name string
---@return table?, string?
function strata.stop(name) end

---stops a runtime, and forgets it
---@param name string
---@return boolean?, string?
function strata.remove(name) end

---changes a runtime's options
---@param name string
---@param options table
---@return table?, string?
function strata.edit(name, options) end

---sends a message, as `strata send`; gives how many connections took it
---@param name string
---@param message string
---@return integer?, string?
function strata.send(name, message) end

---all runtimes, as `strata ls --format json` shows them
---@return table[]
function strata.list() end

---one of them
---@param name string
---@return table?, string?
function strata.get(name) end

---a value as JSON; a table is an array where it has a length or strata.json.array made it
---@param value any
---@param indent? integer
---@return string
function strata.json.encode(value, indent) end

---the value of a JSON text, in which null is strata.json.null; or nil and the reason
---@param text string
---@return any, string?
function strata.json.decode(text) end

---marks a table as an array, though it be empty
---@param list table
---@return table
function strata.json.array(list) end

---the same as json.encode
---@param value any
---@param indent? integer
---@return string
function strata.json_encode(value, indent) end

---the same as json.decode
---@param text string
---@return any, string?
function strata.json_decode(text) end

---bytes as base64
---@param bytes string
---@return string
function strata.base64.encode(bytes) end

---the bytes of base64; or nil and the reason
---@param text string
---@return string?, string?
function strata.base64.decode(text) end

---percent-encodes all but letters, digits and -._~
---@param text string
---@return string
function strata.url.encode(text) end

---decodes percent-encoding, and + as a space; or nil and the reason
---@param text string
---@return string?, string?
function strata.url.decode(text) end

---the fields of a query, a=1&b=2; of equal names the last; or nil and the reason
---@param query string
---@return table?, string?
function strata.url.query(query) end

---a digest (md5, sha1, sha256, sha512) in hexadecimal, or its bytes
---@param digest string
---@param bytes string
---@param raw? boolean
---@return string
function strata.hash(digest, bytes, raw) end

---the same with a key (HMAC)
---@param digest string
---@param key string
---@param bytes string
---@param raw? boolean
---@return string
function strata.hmac(digest, key, bytes, raw) end

---bytes that nobody can guess
---@param count integer
---@return string
function strata.random_bytes(count) end

---a value that all loops of the runtime share, or nil
---@param name string
---@return any
function strata.shared.get(name) end

---keeps a value, which stays when the script is loaded again; for good, or for some seconds
---@param name string
---@param value any
---@param seconds? number
function strata.shared.set(name, value, seconds) end

---adds to a number (1, unless another is given), as one step, and gives the sum
---@param name string
---@param by? number
---@param seconds? number
---@return number
function strata.shared.add(name, by, seconds) end

---forgets a value; false if there was none
---@param name string
---@return boolean
function strata.shared.remove(name) end

---connects to an endpoint (tcp, tls, unix, ws, wss, udp, l2, xdp, runtime://NAME); options:
---framing='line'|'length'|'raw', timeout_ms=5000, max_message, ca, insecure; gives a
---connection, or nil and the reason
---@param url string
---@param options? table
---@return strata.connection?, string?
function strata.connect(url, options) end

---a client of a cache of this daemon, by its name, or of redis://USER:PASSWORD@HOST:PORT/0;
---options: user, password, database, timeout_ms=5000, ca, insecure; it connects when it is
---asked something
---@param where string
---@param options? table
---@return strata.redis
function strata.redis(where, options) end

---the bytes of a file in the script's folder or below, 16 MiB at most; or nil and the reason
---@param path string
---@return string?, string?
function strata.read_file(path) end

---@class strata.server
---@field name string
---@field type string
server = {}

---sends a message to one client; false if it has gone
---@param id integer
---@param message string
---@return boolean
function server.send(id, message) end

---sends a message to all clients, or all but one
---@param message string
---@param except? integer
function server.broadcast(message, except) end

---sends a message to some clients
---@param ids integer[]
---@param message string
function server.multicast(ids, message) end

---ends a client's connection
---@param id integer
function server.disconnect(id) end

---the ids of all clients, of all loops
---@return integer[]
function server.clients() end

---how many connections there are
---@return integer
function server.connections() end

---where a client is ({address=, tls_subject=}), or nil if it has gone
---@param id integer
---@return table?
function server.peer(id) end

---a client's IP address, without its port
---@param id integer
---@return string
function server.peer_ip(id) end

---keeps a value with a client, also when the script is loaded again; nil forgets it
---@param id integer
---@param name string
---@param value? any
---@return boolean
function server.set_data(id, name, value) end

---a value that is kept with a client, or nil
---@param id integer
---@param name string
---@return any
function server.get_data(id, name) end

---puts a client into a group; false if it has gone
---@param id integer
---@param group string
---@return boolean
function server.join_group(id, group) end

---takes a client out of a group; false if it was not in it
---@param id integer
---@param group string
---@return boolean
function server.leave_group(id, group) end

---sends a message to a group's clients, or all but one
---@param group string
---@param message string
---@param except? integer
function server.group_send(group, message, except) end

---@class strata.client
---@field name string
---@field type string
client = {}

---sends a message; false and the reason when it cannot be sent
---@param message string
---@return boolean, string?
function client.send(message) end

---whether there is a connection now
---@return boolean
function client.is_connected() end

---the runtime's own table
---@type strata.server|strata.client
self = nil
