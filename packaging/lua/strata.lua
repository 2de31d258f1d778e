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

---@class strata.change
---@field op "write"|"delete"|"expire"|"clear"
---@field key? string
---@field database integer
---@field type? string as TYPE says it
---@field value? string of a string
---@field ttl? number seconds
---@field command? string[] that has changed another value than a string

---@class strata.script what a script may set: numbers of its own, and the functions that are called
---@field tick_ms? number on_tick is called that often
---@field miss_ms? number how long clients wait for on_miss
---@field flush_ms? number the least between two batches of on_flush
---@field flush_max? number changes in a batch
---@field flush_backlog? number changes that wait before clients' are refused
---@field on_start? fun()
---@field on_stop? fun()
---@field on_tick? fun(elapsed_ms: number)
---@field on_message? fun(message: string, id: integer)
---@field on_client_message? fun(id: integer, message: string)
---@field on_connect? fun(id: integer)
---@field on_disconnect? fun(id: integer)
---@field on_send? fun(message: string): string|boolean|nil
---@field on_auth? fun(id: integer): boolean
---@field on_http_request? fun(request: strata.request): string|table|nil
---@field on_http_body? fun(request: strata.request): function|string|table|nil
---@field on_websocket? fun(request: strata.request, id: integer): boolean|string|nil
---@field on_master_auth? fun(id: integer, password: string): boolean
---@field on_upstream_connect? fun(upstream: integer)
---@field on_upstream? fun(upstream: integer, message: string)
---@field on_upstream_disconnect? fun(upstream: integer)
---@field on_miss? fun(key: string, database: integer): string|nil, number?
---@field on_write? fun(key: string, value: string?, ttl: number?, change: strata.change)
---@field on_delete? fun(key: string, database: integer)
---@field on_expire? fun(key: string, database: integer)
---@field on_flush? fun(batch: strata.change[]): boolean|integer|nil
---@field on_route? fun(request: strata.request): string|integer|table|nil
---@field on_proxy_request? fun(request: strata.request|integer, data?: string): table|string|nil
---@field on_proxy_response? fun(response: table|integer, request: strata.request|string): table|string|nil
---@field on_proxy_request_body? fun(piece: string?, request: strata.request): string|boolean|nil
---@field on_proxy_response_body? fun(piece: string?, request: strata.request): string|boolean|nil
---@field on_cluster_join? fun(daemon: string)
---@field on_cluster_leave? fun(daemon: string)

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

---what strata.connect returns
---@class strata.connection
local connection = {}

---sends a message or bytes; returns true, or nil and the reason, for example when 4 MiB
---already wait
---@param bytes string
---@return boolean?, string?
function connection:send(bytes) end

---the next message, or bytes of a stream; or nil and 'timeout', 'closed' or another reason
---@param seconds? number
---@return string?, string?
function connection:receive(seconds) end

---the next line of a stream, without its line end; or nil and the reason, as receive
---@param seconds? number
---@return string?, string?
function connection:receive_line(seconds) end

---waits until all has been sent
---@param seconds? number
---@return boolean?, string?
function connection:flush(seconds) end

---closes the connection after everything has been sent
function connection:close() end

---true while neither side has closed the connection
---@return boolean
function connection:is_open() end

---what strata.redis returns; each Redis command is a method
---@class strata.redis
---@field [string] fun(self: strata.redis, ...: any): any, string?
local redis = {}

---runs a command, and waits: db:call('SET', 'k', 1), or in short db:set('k', 1); null is
---nil, within lists strata.json.null; an error is nil and its text
---@param command string
---@param ... any
---@return any, string?
function redis:call(command, ...) end

---runs a transaction: db:multi{{'SET', 'k', 1}, {'INCR', 'k'}} returns the list of answers;
---an error in it is {err=}
---@param commands table[]
---@return table?, string?
function redis:multi(commands) end

---closes the connection
function redis:close() end

---what strata.subscribe and similar functions return
---@class strata.subscription
local subscription = {}

---ends the subscription; the function is no longer called
function subscription:close() end

---true while the subscription is not closed
---@return boolean
function subscription:is_open() end

---writes a line to the runtime's log; a table is written as its fields: {level='warning',
---message='full', n=3}
---@param message any
---@param level? string
function strata.log(message, level) end

---seconds since 1970, with fractions
---@return number
function strata.now() end

---seconds of a monotonic clock, to measure durations
---@return number
function strata.clock() end

---waits for some seconds; other functions of the script run meanwhile
---@param seconds number
function strata.sleep(seconds) end

---calls a function once, later; returns a number for clear_timeout
---@param ms number
---@param call fun()
---@return integer
function strata.set_timeout(ms, call) end

---calls a function repeatedly; returns a number for clear_interval
---@param ms number
---@param call fun()
---@return integer
function strata.set_interval(ms, call) end

---cancels a set_timeout
---@param timer integer
function strata.clear_timeout(timer) end

---ends a set_interval
---@param timer integer
function strata.clear_interval(timer) end

---looks up the addresses of a host name, and waits for them
---@param host string
---@return string[]?, string?
function strata.resolve(host) end

---sends an HTTP request ({url=, method=, headers=, body=, timeout_ms=5000}), and waits for
---{ok=, status=, headers=, body=}, or {ok=false, error=}
---@param request table
---@return table
function strata.http(request) end

---a value as JSON; a table becomes an array if it has a length or strata.json.array marked
---it
---@param value any
---@param indent? integer
---@return string
function strata.json.encode(value, indent) end

---the value of a JSON text, with strata.json.null for null; or nil and the reason
---@param text string
---@return any, string?
function strata.json.decode(text) end

---marks a table as an array, even if it is empty
---@param list table
---@return table
function strata.json.array(list) end

---same as json.encode
---@param value any
---@param indent? integer
---@return string
function strata.json_encode(value, indent) end

---same as json.decode
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

---percent-encodes all characters except letters, digits and -._~
---@param text string
---@return string
function strata.url.encode(text) end

---decodes percent-encoding, and + as a space; or nil and the reason
---@param text string
---@return string?, string?
function strata.url.decode(text) end

---the fields of a query such as a=1&b=2; the last of equal names counts; or nil and the
---reason
---@param query string
---@return table?, string?
function strata.url.query(query) end

---a digest (md5, sha1, sha256, sha512) in hexadecimal, or its bytes
---@param digest string
---@param bytes string
---@param raw? boolean
---@return string
function strata.hash(digest, bytes, raw) end

---a digest with a key (HMAC), in hexadecimal, or its bytes
---@param digest string
---@param key string
---@param bytes string
---@param raw? boolean
---@return string
function strata.hmac(digest, key, bytes, raw) end

---random bytes, suitable for secrets
---@param count integer
---@return string
function strata.random_bytes(count) end

---a value shared by all loops of the runtime, or nil
---@param name string
---@return any
function strata.shared.get(name) end

---stores a value, for some seconds or without limit; it survives a reload of the script
---@param name string
---@param value any
---@param seconds? number
function strata.shared.set(name, value, seconds) end

---adds a number (default 1) to a value atomically, and returns the sum
---@param name string
---@param by? number
---@param seconds? number
---@return number
function strata.shared.add(name, by, seconds) end

---removes a value; false if there was none
---@param name string
---@return boolean
function strata.shared.remove(name) end

---creates a runtime that this one owns and, unless start=false, starts it; changes the
---runtime of that name if this one owns it; returns its description, or nil and the reason
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

---stops and removes a runtime
---@param name string
---@return boolean?, string?
function strata.remove(name) end

---changes a runtime's options
---@param name string
---@param options table
---@return table?, string?
function strata.edit(name, options) end

---sends a message, as `strata send`, or to one client of a server; returns the number of
---connections that accepted it
---@param name string
---@param message string
---@param client? integer
---@return integer?, string?
function strata.send(name, message, client) end

---runs an operation of a runtime's type, such as 'backends' (GET /v1/types lists them);
---returns its answer, or nil and the reason
---@param name string
---@param operation string
---@param parameters? table
---@param body? string
---@return table?, string?
function strata.ask(name, operation, parameters, body) end

---couples a client of one server with a client of another, both with scripts: the messages
---of each go to the other, until one disconnects; returns true, or nil and the reason
---@param first string
---@param id integer
---@param second string
---@param other integer
---@return boolean?, string?
function strata.pipe(first, id, second, other) end

---ends that: the messages go to the scripts again
---@param first string
---@param id integer
---@param second string
---@param other integer
---@return boolean?, string?
function strata.unpipe(first, id, second, other) end

---all runtimes, as `strata ls --format json` shows them
---@return table[]
function strata.list() end

---a runtime with its options and children, as `strata show --format json` shows it
---@param name string
---@return table?, string?
function strata.get(name) end

---the figures of a runtime, as `strata stats --format json` shows them
---@param name string
---@return table?, string?
function strata.stats(name) end

---calls a function for each further event of any runtime: {time=, event=, runtime=, type=,
---detail=}
---@param call fun(event: table)
---@return strata.subscription
function strata.events(call) end

---calls a function for each message published in channels of a cache or Redis server (named
---as for strata.redis); reconnects; a reason in addition to the subscription means that it
---is still trying to connect
---@param where string
---@param channels string|string[]
---@param call fun(channel: string, message: string)
---@param options? table
---@return strata.subscription, string?
function strata.subscribe(where, channels, call, options) end

---as strata.subscribe, for all channels that match patterns
---@param where string
---@param patterns string|string[]
---@param call fun(channel: string, message: string, pattern: string)
---@param options? table
---@return strata.subscription, string?
function strata.psubscribe(where, patterns, call, options) end

---the running members of a group, as strata.list returns them; those of other daemons of the
---cluster as strata.cluster.runtimes does; waits
---@param name string
---@return table[]
function strata.group(name) end

---calls a function with the members of a group, now and after each change
---@param name string
---@param call fun(members: table[])
---@return strata.subscription
function strata.watch_group(name, call) end

---the cluster as GET /v1/cluster returns it, or nil and the reason if the daemon is in none
---@return table?, string?
function strata.cluster.get() end

---the daemons of the cluster, this one among them: {daemon=, version=, control=, is_own=,
---is_drained=, zone=, labels=, runtimes=}; waits; none outside of a cluster
---@return table[]
function strata.cluster.daemons() end

---the runtimes of all daemons: {daemon=, name=, type=, state=, group=, endpoints=,
---connections=, labels=}; waits
---@return table[]
function strata.cluster.runtimes() end

---the running members of a group, of all daemons, as strata.cluster.runtimes returns them;
---waits
---@param name string
---@return table[]
function strata.cluster.group(name) end

---the numbers of {daemons=, runtimes=, running=, connections=} in the cluster; waits
---@return table
function strata.cluster.stats() end

---connects to an endpoint (tcp, tls, unix, ws, wss, udp, l2, xdp, runtime://NAME); options:
---framing='line'|'length'|'raw', timeout_ms=5000, max_message, ca, insecure; returns a
---connection, or nil and the reason
---@param url string
---@param options? table
---@return strata.connection?, string?
function strata.connect(url, options) end

---a client of a cache of this daemon, by its name, or of redis://USER:PASSWORD@HOST:PORT/0;
---options: user, password, database, timeout_ms=5000, ca, insecure; it connects at the first
---command
---@param where string
---@param options? table
---@return strata.redis
function strata.redis(where, options) end

---the bytes of a file in the script's folder or a subfolder, at most 16 MiB; or nil and the
---reason
---@param path string
---@return string?, string?
function strata.read_file(path) end

---sends a command to a generic netlink family: strata.netlink('nlctrl', 'getfamily',
---{family_name='ethtool'}) returns the attributes of the answer by name, with dump=true a
---list of them; or nil and the reason
---@param family string
---@param command string
---@param attributes? table
---@param options? table
---@return table?, string?
function strata.netlink(family, command, attributes, options) end

---calls a function for each message that a family multicasts: {command=, name=, attributes=}
---@param family string
---@param group string
---@param call fun(message: table)
---@return strata.subscription?, string?
function strata.netlink_listen(family, group, call) end

---@class strata.server
---@field name string the runtime's name
---@field type string its type
---@field port integer the first port at which it listens; 0: none, or none yet; waits
---@field state string its state, as `strata ls` shows it; waits
---@field protocol string? its option 'protocol', or nil; waits
server = {}

---the runtime's options
---@return table?, string?
function server.options() end

---the endpoints at which the runtime listens, or to which it connects
---@return string[]?, string?
function server.endpoints() end

---the runtime's figures, as strata.stats returns them
---@return table?, string?
function server.stats() end

---sends a message to one client of the server that owns this runtime
---@param id integer
---@param message string
---@return integer?, string?
function server.owner_send(id, message) end

---sends a message to all clients of that server, as `strata send`
---@param message string
---@return integer?, string?
function server.owner_broadcast(message) end

---sends a message to one client; false if it has disconnected
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

---closes a client's connection after everything sent before has been delivered
---@param id integer
function server.disconnect(id) end

---the ids of all clients, on all loops
---@return integer[]
function server.clients() end

---relays between a client and another runtime or a URL; the script does not get these
---messages until that ends; nil and the reason on failure
---@param id integer
---@param where string
---@return boolean?, string?
function server.route(id, where) end

---ends a route; false if there was none
---@param id integer
---@return boolean
function server.unroute(id) end

---where a client's messages are routed to, or nil
---@param id integer
---@return string?
function server.get_route(id) end

---relays between two clients; the script does not get their messages
---@param a integer
---@param b integer
function server.pipe(a, b) end

---ends the relay, for both clients
---@param id integer
function server.unpipe(id) end

---the numbers of the connected upstreams (--upstream), from 1
---@return integer[]
function server.upstreams() end

---sends a message to one upstream; returns true, or nil and the reason
---@param upstream integer
---@param message string
---@return boolean?, string?
function server.upstream_send(upstream, message) end

---sends a message to all upstreams; returns how many accepted it
---@param message string
---@return integer
function server.upstream_broadcast(message) end

---the number of connections
---@return integer
function server.connections() end

---address and TLS subject of a client ({address=, tls_subject=}), or nil if it has
---disconnected
---@param id integer
---@return table?
function server.peer(id) end

---the fields cookie, origin, protocol and authorization of the request that opened a
---client's WebSocket, as far as it has them; nil for another client
---@param id integer
---@return table?
function server.ws_headers(id) end

---a client's IP address, without its port
---@param id integer
---@return string
function server.peer_ip(id) end

---stores a value with a client (at most 1 MiB in all), which survives a reload of the
---script; nil removes it
---@param id integer
---@param name string
---@param value? any
---@return boolean
function server.set_data(id, name, value) end

---a value stored with a client, or nil
---@param id integer
---@param name string
---@return any
function server.get_data(id, name) end

---puts a client into a group (at most 10,000 groups, with names of at most 1,024 bytes);
---false if it has disconnected
---@param id integer
---@param group string
---@return boolean
function server.join_group(id, group) end

---removes a client from a group; false if it was not in it
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
---@field name string the runtime's name
---@field type string its type
---@field port integer the first port at which it listens; 0: none, or none yet; waits
---@field state string its state, as `strata ls` shows it; waits
---@field protocol string? its option 'protocol', or nil; waits
client = {}

---the runtime's options
---@return table?, string?
function client.options() end

---the endpoints at which the runtime listens, or to which it connects
---@return string[]?, string?
function client.endpoints() end

---the runtime's figures, as strata.stats returns them
---@return table?, string?
function client.stats() end

---sends a message to one client of the server that owns this runtime
---@param id integer
---@param message string
---@return integer?, string?
function client.owner_send(id, message) end

---sends a message to all clients of that server, as `strata send`
---@param message string
---@return integer?, string?
function client.owner_broadcast(message) end

---sends a message; returns false and the reason if it cannot be sent
---@param message string
---@return boolean, string?
function client.send(message) end

---whether there is a connection now
---@return boolean
function client.is_connected() end

---@class strata.proxy
---@field name string the runtime's name
---@field type string its type
---@field port integer the first port at which it listens; 0: none, or none yet; waits
---@field state string its state, as `strata ls` shows it; waits
---@field protocol string? its option 'protocol', or nil; waits
proxy = {}

---the runtime's options
---@return table?, string?
function proxy.options() end

---the endpoints at which the runtime listens, or to which it connects
---@return string[]?, string?
function proxy.endpoints() end

---the runtime's figures, as strata.stats returns them
---@return table?, string?
function proxy.stats() end

---sends a message to one client of the server that owns this runtime
---@param id integer
---@param message string
---@return integer?, string?
function proxy.owner_send(id, message) end

---sends a message to all clients of that server, as `strata send`
---@param message string
---@return integer?, string?
function proxy.owner_broadcast(message) end

---the backends and their state, as `strata backends --format json` shows them
---@return table[]
function proxy.backends() end

---clients that are connected now
---@return integer
function proxy.connections() end

---the ids of the clients of this loop whose connections pass as they are
---@return integer[]
function proxy.clients() end

---address of such a client and its backend ({address=, tls_subject=, backend=}), or nil if
---it has disconnected
---@param id integer
---@return table?
function proxy.peer(id) end

---closes such a client's connection at once; false if it has disconnected
---@param id integer
---@return boolean
function proxy.close_client(id) end

---@class strata.cache
---@field name string the runtime's name
---@field type string its type
---@field port integer the first port at which it listens; 0: none, or none yet; waits
---@field state string its state, as `strata ls` shows it; waits
---@field protocol string? its option 'protocol', or nil; waits
---@field acl fun(...: string): any, string? manages users and their permissions
---@field append fun(...: string): any, string? appends to a string
---@field bgrewriteaof fun(...: string): any, string? rewrites the append-only log in the background
---@field bgsave fun(...: string): any, string? writes a snapshot in the background
---@field bitcount fun(...: string): any, string? counts the set bits of a string
---@field bitfield fun(...: string): any, string? reads, sets and increments integers of any width in a string
---@field bitfield_ro fun(...: string): any, string? reads integers of any width in a string
---@field bitop fun(...: string): any, string? stores the bitwise AND, OR, XOR or NOT of strings
---@field bitpos fun(...: string): any, string? returns the position of the first set or clear bit
---@field blmove fun(...: string): any, string? moves an element between lists; waits if the source is empty
---@field blmpop fun(...: string): any, string? removes and returns elements of the first list that is not empty; waits if all are empty
---@field blpop fun(...: string): any, string? removes and returns the first element of a list; waits if all lists are empty
---@field brpop fun(...: string): any, string? removes and returns the last element of a list; waits if all lists are empty
---@field brpoplpush fun(...: string): any, string? moves the last element to the front of another list; waits if the source is empty
---@field bzmpop fun(...: string): any, string? removes and returns members of the first nonempty sorted set; waits if all are empty
---@field bzpopmax fun(...: string): any, string? removes and returns the member with the highest score; waits if all sets are empty
---@field bzpopmin fun(...: string): any, string? removes and returns the member with the lowest score; waits if all sets are empty
---@field command fun(...: string): any, string? describes the commands
---@field config fun(...: string): any, string? reads and sets parameters
---@field copy fun(...: string): any, string? copies a value to another key
---@field dbsize fun(...: string): any, string? returns the number of keys in the database
---@field debug fun(...: string): any, string? offers functions for test suites
---@field decr fun(...: string): any, string? subtracts one from a number
---@field decrby fun(...: string): any, string? subtracts an integer from a number
---@field del fun(...: string): any, string? removes keys
---@field delex fun(...: string): any, string? deletes a key, if its value or digest is, or is not, a given one
---@field delifeq fun(...: string): any, string? deletes a key if its value is a given one
---@field digest fun(...: string): any, string? returns the digest of a string
---@field dump fun(...: string): any, string? returns the value of a key in the format that RESTORE accepts
---@field echo fun(...: string): any, string? returns its argument
---@field eval fun(...: string): any, string? runs a script
---@field eval_ro fun(...: string): any, string? runs a script that only reads
---@field evalsha fun(...: string): any, string? runs a kept script
---@field evalsha_ro fun(...: string): any, string? runs a kept script that only reads
---@field exists fun(...: string): any, string? counts the given keys that exist
---@field expire fun(...: string): any, string? sets the time to live of a key in seconds
---@field expireat fun(...: string): any, string? sets the expiry of a key to a Unix time in seconds
---@field expiretime fun(...: string): any, string? returns the expiry of a key as a Unix time in seconds
---@field fcall fun(...: string): any, string? runs a function
---@field fcall_ro fun(...: string): any, string? runs a function that only reads
---@field flushall fun(...: string): any, string? removes all keys of all databases
---@field flushdb fun(...: string): any, string? removes all keys of the database
---@field function fun(...: string): any, string? manages libraries of functions
---@field geoadd fun(...: string): any, string? adds points to a sorted set or moves them
---@field geodist fun(...: string): any, string? returns the distance between two points
---@field geohash fun(...: string): any, string? returns the geohashes of points
---@field geopos fun(...: string): any, string? returns the longitudes and latitudes of points
---@field georadius fun(...: string): any, string? returns or stores the points within a distance of a point
---@field georadius_ro fun(...: string): any, string? returns the points within a distance of a point
---@field georadiusbymember fun(...: string): any, string? returns or stores the points within a distance of a member
---@field georadiusbymember_ro fun(...: string): any, string? returns the points within a distance of a member
---@field geosearch fun(...: string): any, string? returns the points within a circle or a rectangle
---@field geosearchstore fun(...: string): any, string? stores the points within a circle or a rectangle
---@field get fun(...: string): any, string? returns the string of a key
---@field getbit fun(...: string): any, string? returns one bit of a string
---@field getdel fun(...: string): any, string? returns the string of a key and removes the key
---@field getex fun(...: string): any, string? returns the string of a key and sets or removes its expiry
---@field getrange fun(...: string): any, string? returns a part of a string
---@field getset fun(...: string): any, string? sets a key to a string and returns the previous string
---@field hdel fun(...: string): any, string? removes fields from a hash
---@field hexists fun(...: string): any, string? checks whether a hash has a field
---@field hexpire fun(...: string): any, string? sets the time to live of hash fields in seconds
---@field hexpireat fun(...: string): any, string? sets the expiry of hash fields to a Unix time in seconds
---@field hexpiretime fun(...: string): any, string? returns the expiry of hash fields as Unix times in seconds
---@field hget fun(...: string): any, string? returns the value of a hash field
---@field hgetall fun(...: string): any, string? returns all fields and values of a hash
---@field hgetdel fun(...: string): any, string? returns and removes hash fields
---@field hgetex fun(...: string): any, string? returns hash fields, and sets or removes their expiry
---@field hincrby fun(...: string): any, string? adds an integer to the number in a hash field
---@field hincrbyfloat fun(...: string): any, string? adds a floating-point number to the number in a hash field
---@field hkeys fun(...: string): any, string? returns all fields of a hash
---@field hlen fun(...: string): any, string? returns the number of fields of a hash
---@field hmget fun(...: string): any, string? returns the values of several hash fields
---@field hmset fun(...: string): any, string? sets several fields of a hash
---@field hpersist fun(...: string): any, string? removes the expiry of hash fields
---@field hpexpire fun(...: string): any, string? sets the time to live of hash fields in milliseconds
---@field hpexpireat fun(...: string): any, string? sets the expiry of hash fields to a Unix time in milliseconds
---@field hpexpiretime fun(...: string): any, string? returns the expiry of hash fields as Unix times in milliseconds
---@field hpttl fun(...: string): any, string? returns the remaining time to live of hash fields in milliseconds
---@field hrandfield fun(...: string): any, string? returns random fields of a hash
---@field hscan fun(...: string): any, string? iterates over the fields of a hash
---@field hset fun(...: string): any, string? sets fields of a hash
---@field hsetex fun(...: string): any, string? sets hash fields and their expiry
---@field hsetnx fun(...: string): any, string? sets a hash field unless it exists
---@field hstrlen fun(...: string): any, string? returns the length of the value of a hash field
---@field httl fun(...: string): any, string? returns the remaining time to live of hash fields in seconds
---@field hvals fun(...: string): any, string? returns all values of a hash
---@field incr fun(...: string): any, string? adds one to a number
---@field incrby fun(...: string): any, string? adds an integer to a number
---@field incrbyfloat fun(...: string): any, string? adds a floating-point number to a number
---@field info fun(...: string): any, string? returns properties and statistics of this cache
---@field keys fun(...: string): any, string? returns all keys that match a pattern
---@field lastsave fun(...: string): any, string? returns the Unix time of the last snapshot
---@field latency fun(...: string): any, string? reports slow operations
---@field lcs fun(...: string): any, string? returns the longest common subsequence of two strings
---@field lindex fun(...: string): any, string? returns the element at an index
---@field linsert fun(...: string): any, string? inserts an element before or after another element
---@field llen fun(...: string): any, string? returns the number of elements of a list
---@field lmove fun(...: string): any, string? moves an element between lists
---@field lmpop fun(...: string): any, string? removes and returns elements of the first list that is not empty
---@field lolwut fun(...: string): any, string? returns a picture and the version
---@field lpop fun(...: string): any, string? removes and returns the first elements of a list
---@field lpos fun(...: string): any, string? returns the index of an element
---@field lpush fun(...: string): any, string? inserts elements at the front of a list
---@field lpushx fun(...: string): any, string? inserts elements at the front of an existing list
---@field lrange fun(...: string): any, string? returns a range of a list
---@field lrem fun(...: string): any, string? removes elements that equal a value
---@field lset fun(...: string): any, string? sets the element at an index
---@field ltrim fun(...: string): any, string? removes all elements outside a range of a list
---@field memory fun(...: string): any, string? reports the use of memory
---@field mget fun(...: string): any, string? returns the strings of several keys
---@field migrate fun(...: string): any, string? moves keys to another server
---@field module fun(...: string): any, string? reports modules
---@field move fun(...: string): any, string? moves a key to another database
---@field mset fun(...: string): any, string? sets several keys to strings
---@field msetex fun(...: string): any, string? sets several keys to strings with one expiry, on a condition
---@field msetnx fun(...: string): any, string? sets several keys to strings unless one of the keys exists
---@field object fun(...: string): any, string? inspects the storage of a value
---@field persist fun(...: string): any, string? removes the expiry of a key
---@field pexpire fun(...: string): any, string? sets the time to live of a key in milliseconds
---@field pexpireat fun(...: string): any, string? sets the expiry of a key to a Unix time in milliseconds
---@field pexpiretime fun(...: string): any, string? returns the expiry of a key as a Unix time in milliseconds
---@field pfadd fun(...: string): any, string? adds elements to a HyperLogLog
---@field pfcount fun(...: string): any, string? estimates the number of distinct elements of HyperLogLogs
---@field pfdebug fun(...: string): any, string? returns details of the storage of a HyperLogLog
---@field pfmerge fun(...: string): any, string? merges HyperLogLogs into the first of them
---@field pfselftest fun(...: string): any, string? tests the implementation of HyperLogLogs
---@field ping fun(...: string): any, string? checks that the cache responds
---@field psetex fun(...: string): any, string? sets a key to a string that expires after a time in milliseconds
---@field pttl fun(...: string): any, string? returns the remaining time to live of a key in milliseconds
---@field publish fun(...: string): any, string? sends a message to a channel
---@field pubsub fun(...: string): any, string? inspects channels and their subscribers
---@field randomkey fun(...: string): any, string? returns a random key
---@field rename fun(...: string): any, string? renames a key
---@field renamenx fun(...: string): any, string? renames a key unless the new name exists
---@field restore fun(...: string): any, string? creates a value from the output of DUMP
---@field restore-asking fun(...: string): any, string? creates a value from the output of DUMP; for use between the nodes of a cluster
---@field role fun(...: string): any, string? returns whether this cache is a leader or a follower
---@field rpop fun(...: string): any, string? removes and returns the last elements of a list
---@field rpoplpush fun(...: string): any, string? moves the last element to the front of another list
---@field rpush fun(...: string): any, string? appends elements to a list
---@field rpushx fun(...: string): any, string? appends elements to an existing list
---@field sadd fun(...: string): any, string? adds members to a set
---@field save fun(...: string): any, string? writes a snapshot and waits until it is complete
---@field scan fun(...: string): any, string? iterates over the keys of a database
---@field scard fun(...: string): any, string? returns the number of members of a set
---@field script fun(...: string): any, string? manages scripts
---@field sdiff fun(...: string): any, string? returns the members of the first set that no other set has
---@field sdiffstore fun(...: string): any, string? stores the difference of sets
---@field set fun(...: string): any, string? sets a key to a string
---@field setbit fun(...: string): any, string? sets or clears one bit of a string
---@field setex fun(...: string): any, string? sets a key to a string that expires after a time in seconds
---@field setnx fun(...: string): any, string? sets a key to a string unless the key exists
---@field setrange fun(...: string): any, string? overwrites a part of a string
---@field sinter fun(...: string): any, string? returns the members that all sets have
---@field sintercard fun(...: string): any, string? counts the members that all sets have
---@field sinterstore fun(...: string): any, string? stores the intersection of sets
---@field sismember fun(...: string): any, string? checks whether a value is a member of a set
---@field slowlog fun(...: string): any, string? reports slow commands
---@field smembers fun(...: string): any, string? returns all members of a set
---@field smismember fun(...: string): any, string? checks whether each of several values is a member of a set
---@field smove fun(...: string): any, string? moves a member to another set
---@field sort fun(...: string): any, string? returns or stores elements in sorted order
---@field sort_ro fun(...: string): any, string? returns elements in sorted order
---@field spop fun(...: string): any, string? removes and returns random members of a set
---@field spublish fun(...: string): any, string? sends a message to a shard channel
---@field srandmember fun(...: string): any, string? returns random members of a set without removing them
---@field srem fun(...: string): any, string? removes members from a set
---@field sscan fun(...: string): any, string? iterates over the members of a set
---@field strlen fun(...: string): any, string? returns the length of a string
---@field substr fun(...: string): any, string? returns a part of a string; same as GETRANGE
---@field sunion fun(...: string): any, string? returns the members of any of the sets
---@field sunionstore fun(...: string): any, string? stores the union of sets
---@field swapdb fun(...: string): any, string? swaps the contents of two databases
---@field time fun(...: string): any, string? returns the current Unix time in seconds and microseconds
---@field touch fun(...: string): any, string? updates the access time of keys and counts the keys that exist
---@field ttl fun(...: string): any, string? returns the remaining time to live of a key in seconds
---@field unlink fun(...: string): any, string? removes keys and frees their memory later
---@field xack fun(...: string): any, string? removes pending entries, which a consumer has processed
---@field xackdel fun(...: string): any, string? acknowledges entries and removes them, with regard to other groups
---@field xadd fun(...: string): any, string? appends an entry to a stream
---@field xautoclaim fun(...: string): any, string? gives pending entries that are idle to a consumer
---@field xclaim fun(...: string): any, string? gives pending entries to a consumer, by their ids
---@field xdel fun(...: string): any, string? removes entries from a stream
---@field xdelex fun(...: string): any, string? removes entries of a stream, with regard to its groups
---@field xgroup fun(...: string): any, string? manages the consumer groups of a stream
---@field xinfo fun(...: string): any, string? returns information on streams
---@field xlen fun(...: string): any, string? returns the number of entries of a stream
---@field xpending fun(...: string): any, string? returns the pending entries of a group
---@field xrange fun(...: string): any, string? returns the entries of an interval of ids
---@field xread fun(...: string): any, string? returns the entries behind an id, of several streams; can wait for entries
---@field xreadgroup fun(...: string): any, string? returns entries that are new to a group, or a consumer's pending entries; can wait
---@field xrevrange fun(...: string): any, string? returns the entries of an interval of ids, from the last one on
---@field xsetid fun(...: string): any, string? sets the last id of a stream; meant for replication
---@field xtrim fun(...: string): any, string? removes the first entries of a stream
---@field zadd fun(...: string): any, string? adds members or updates their scores
---@field zcard fun(...: string): any, string? returns the number of members of a sorted set
---@field zcount fun(...: string): any, string? counts the members within a score range
---@field zdiff fun(...: string): any, string? returns the members of the first sorted set that no other sorted set has
---@field zdiffstore fun(...: string): any, string? stores the difference of sorted sets
---@field zincrby fun(...: string): any, string? adds a number to the score of a member
---@field zinter fun(...: string): any, string? returns the members that all sorted sets have
---@field zintercard fun(...: string): any, string? counts the members that all sorted sets have
---@field zinterstore fun(...: string): any, string? stores the intersection of sorted sets
---@field zlexcount fun(...: string): any, string? counts the members within a lexicographical range
---@field zmpop fun(...: string): any, string? removes and returns members of the first nonempty sorted set
---@field zmscore fun(...: string): any, string? returns the scores of several members
---@field zpopmax fun(...: string): any, string? removes and returns the members with the highest scores
---@field zpopmin fun(...: string): any, string? removes and returns the members with the lowest scores
---@field zrandmember fun(...: string): any, string? returns random members of a sorted set without removing them
---@field zrange fun(...: string): any, string? returns members within a rank, score or lexicographical range
---@field zrangebylex fun(...: string): any, string? returns members within a lexicographical range
---@field zrangebyscore fun(...: string): any, string? returns members within a score range
---@field zrangestore fun(...: string): any, string? stores members within a rank, score or lexicographical range
---@field zrank fun(...: string): any, string? returns the rank of a member, counted from the lowest score
---@field zrem fun(...: string): any, string? removes members from a sorted set
---@field zremrangebylex fun(...: string): any, string? removes members within a lexicographical range
---@field zremrangebyrank fun(...: string): any, string? removes members within a rank range
---@field zremrangebyscore fun(...: string): any, string? removes members within a score range
---@field zrevrange fun(...: string): any, string? returns members within a rank range, highest score first
---@field zrevrangebylex fun(...: string): any, string? returns members within a lexicographical range, last member first
---@field zrevrangebyscore fun(...: string): any, string? returns members within a score range, highest score first
---@field zrevrank fun(...: string): any, string? returns the rank of a member, counted from the highest score
---@field zscan fun(...: string): any, string? iterates over the members of a sorted set
---@field zscore fun(...: string): any, string? returns the score of a member
---@field zunion fun(...: string): any, string? returns the members of any of the sorted sets
---@field zunionstore fun(...: string): any, string? stores the union of sorted sets
cache = {}

---the runtime's options
---@return table?, string?
function cache.options() end

---the endpoints at which the runtime listens, or to which it connects
---@return string[]?, string?
function cache.endpoints() end

---the runtime's figures, as strata.stats returns them
---@return table?, string?
function cache.stats() end

---sends a message to one client of the server that owns this runtime
---@param id integer
---@param message string
---@return integer?, string?
function cache.owner_send(id, message) end

---sends a message to all clients of that server, as `strata send`
---@param message string
---@return integer?, string?
function cache.owner_broadcast(message) end

---executes a command; returns its reply, or nil and the error; a null reply is nil
---@param command string
---@param ... string
---@return any, string?
function cache.call(command, ...) end

---executes a command as call does, but in the given database
---@param database integer
---@param command string
---@param ... string
---@return any, string?
function cache.call_in(database, command, ...) end

---the runtime's own table
---@type strata.server|strata.client|strata.proxy|strata.cache
self = nil
