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

---@class strata.proxy
---@field name string
---@field type string
proxy = {}

---the backs and how they stand, as `strata backends --format json` shows them
---@return table[]
function proxy.backs() end

---clients that are connected now
---@return integer
function proxy.connections() end

---@class strata.cache
---@field name string
---@field type string
cache = {}

---executes a command: its reply, or nil and the error; nil for null
---@param command string
---@param ... string
---@return any, string?
function cache.call(command, ...) end

---the same in another database than 0
---@param database integer
---@param command string
---@param ... string
---@return any, string?
function cache.call_in(database, command, ...) end

---add to the end of a string
---@param ... string
---@return any, string?
function cache.append(...) end

---rewrite the append-only log, in the background
---@param ... string
---@return any, string?
function cache.bgrewriteaof(...) end

---write a snapshot, in the background
---@param ... string
---@return any, string?
function cache.bgsave(...) end

---count the bits that are set
---@param ... string
---@return any, string?
function cache.bitcount(...) end

---read, set and add to integers of any width in a string
---@param ... string
---@return any, string?
function cache.bitfield(...) end

---read integers of any width in a string
---@param ... string
---@return any, string?
function cache.bitfield_ro(...) end

---and, or, exclusive or, not of strings
---@param ... string
---@return any, string?
function cache.bitop(...) end

---the first bit that is set, or clear
---@param ... string
---@return any, string?
function cache.bitpos(...) end

---move an element between lists; wait for one
---@param ... string
---@return any, string?
function cache.blmove(...) end

---take elements from the first list that has some; wait for them
---@param ... string
---@return any, string?
function cache.blmpop(...) end

---take the first element of a list; wait for one
---@param ... string
---@return any, string?
function cache.blpop(...) end

---take the last element of a list; wait for one
---@param ... string
---@return any, string?
function cache.brpop(...) end

---move the last element to another list; wait for one
---@param ... string
---@return any, string?
function cache.brpoplpush(...) end

---take members from the first sorted set that has some; wait for them
---@param ... string
---@return any, string?
function cache.bzmpop(...) end

---take the member with the highest score; wait for one
---@param ... string
---@return any, string?
function cache.bzpopmax(...) end

---take the member with the lowest score; wait for one
---@param ... string
---@return any, string?
function cache.bzpopmin(...) end

---look at the commands
---@param ... string
---@return any, string?
function cache.command(...) end

---look at parameters and set them
---@param ... string
---@return any, string?
function cache.config(...) end

---copy a value to another key
---@param ... string
---@return any, string?
function cache.copy(...) end

---the number of keys
---@param ... string
---@return any, string?
function cache.dbsize(...) end

---for test suites
---@param ... string
---@return any, string?
function cache.debug(...) end

---subtract one from a number
---@param ... string
---@return any, string?
function cache.decr(...) end

---subtract from a number
---@param ... string
---@return any, string?
function cache.decrby(...) end

---remove keys
---@param ... string
---@return any, string?
function cache.del(...) end

---the value at a key, in the form that RESTORE takes
---@param ... string
---@return any, string?
function cache.dump(...) end

---the same again
---@param ... string
---@return any, string?
function cache.echo(...) end

---how many of the keys are there
---@param ... string
---@return any, string?
function cache.exists(...) end

---let a key expire in seconds
---@param ... string
---@return any, string?
function cache.expire(...) end

---let a key expire at a second
---@param ... string
---@return any, string?
function cache.expireat(...) end

---the second at which a key expires
---@param ... string
---@return any, string?
function cache.expiretime(...) end

---remove all keys of all databases
---@param ... string
---@return any, string?
function cache.flushall(...) end

---remove all keys of this database
---@param ... string
---@return any, string?
function cache.flushdb(...) end

---the string at a key
---@param ... string
---@return any, string?
function cache.get(...) end

---one bit of a string
---@param ... string
---@return any, string?
function cache.getbit(...) end

---the string at a key, which is removed
---@param ... string
---@return any, string?
function cache.getdel(...) end

---the string at a key, whose expiry is set or removed
---@param ... string
---@return any, string?
function cache.getex(...) end

---a part of a string
---@param ... string
---@return any, string?
function cache.getrange(...) end

---the string at a key, which gets another
---@param ... string
---@return any, string?
function cache.getset(...) end

---remove fields
---@param ... string
---@return any, string?
function cache.hdel(...) end

---whether a field is there
---@param ... string
---@return any, string?
function cache.hexists(...) end

---the value of a field
---@param ... string
---@return any, string?
function cache.hget(...) end

---all fields and values
---@param ... string
---@return any, string?
function cache.hgetall(...) end

---add to a field's number
---@param ... string
---@return any, string?
function cache.hincrby(...) end

---add to a field's floating-point number
---@param ... string
---@return any, string?
function cache.hincrbyfloat(...) end

---all fields
---@param ... string
---@return any, string?
function cache.hkeys(...) end

---the number of fields
---@param ... string
---@return any, string?
function cache.hlen(...) end

---the values of several fields
---@param ... string
---@return any, string?
function cache.hmget(...) end

---set several fields
---@param ... string
---@return any, string?
function cache.hmset(...) end

---any fields
---@param ... string
---@return any, string?
function cache.hrandfield(...) end

---go through the fields of a hash
---@param ... string
---@return any, string?
function cache.hscan(...) end

---set fields
---@param ... string
---@return any, string?
function cache.hset(...) end

---set a field that is not there yet
---@param ... string
---@return any, string?
function cache.hsetnx(...) end

---the length of a field's value
---@param ... string
---@return any, string?
function cache.hstrlen(...) end

---all values
---@param ... string
---@return any, string?
function cache.hvals(...) end

---add one to a number
---@param ... string
---@return any, string?
function cache.incr(...) end

---add to a number
---@param ... string
---@return any, string?
function cache.incrby(...) end

---add to a floating-point number
---@param ... string
---@return any, string?
function cache.incrbyfloat(...) end

---figures about this cache
---@param ... string
---@return any, string?
function cache.info(...) end

---all keys that a pattern matches
---@param ... string
---@return any, string?
function cache.keys(...) end

---when the last snapshot was written
---@param ... string
---@return any, string?
function cache.lastsave(...) end

---look at what took long
---@param ... string
---@return any, string?
function cache.latency(...) end

---the longest text that two strings have in common
---@param ... string
---@return any, string?
function cache.lcs(...) end

---the element at an index
---@param ... string
---@return any, string?
function cache.lindex(...) end

---put an element before or behind another
---@param ... string
---@return any, string?
function cache.linsert(...) end

---the length of a list
---@param ... string
---@return any, string?
function cache.llen(...) end

---move an element between lists
---@param ... string
---@return any, string?
function cache.lmove(...) end

---take elements from the first list that has some
---@param ... string
---@return any, string?
function cache.lmpop(...) end

---a drawing, and the version
---@param ... string
---@return any, string?
function cache.lolwut(...) end

---take the first elements of a list
---@param ... string
---@return any, string?
function cache.lpop(...) end

---the index of an element
---@param ... string
---@return any, string?
function cache.lpos(...) end

---put elements at the front of a list
---@param ... string
---@return any, string?
function cache.lpush(...) end

---put elements at the front of a list that is there
---@param ... string
---@return any, string?
function cache.lpushx(...) end

---a part of a list
---@param ... string
---@return any, string?
function cache.lrange(...) end

---remove elements that are equal to a value
---@param ... string
---@return any, string?
function cache.lrem(...) end

---set the element at an index
---@param ... string
---@return any, string?
function cache.lset(...) end

---keep only a part of a list
---@param ... string
---@return any, string?
function cache.ltrim(...) end

---look at memory
---@param ... string
---@return any, string?
function cache.memory(...) end

---the strings at several keys
---@param ... string
---@return any, string?
function cache.mget(...) end

---move a key to another database
---@param ... string
---@return any, string?
function cache.move(...) end

---set several keys
---@param ... string
---@return any, string?
function cache.mset(...) end

---set several keys if none of them is there
---@param ... string
---@return any, string?
function cache.msetnx(...) end

---look at a value's inner side
---@param ... string
---@return any, string?
function cache.object(...) end

---keep a key from expiring
---@param ... string
---@return any, string?
function cache.persist(...) end

---let a key expire in milliseconds
---@param ... string
---@return any, string?
function cache.pexpire(...) end

---let a key expire at a millisecond
---@param ... string
---@return any, string?
function cache.pexpireat(...) end

---the millisecond at which a key expires
---@param ... string
---@return any, string?
function cache.pexpiretime(...) end

---whether anybody is there
---@param ... string
---@return any, string?
function cache.ping(...) end

---set a key that expires in milliseconds
---@param ... string
---@return any, string?
function cache.psetex(...) end

---milliseconds until a key expires
---@param ... string
---@return any, string?
function cache.pttl(...) end

---say something on a channel
---@param ... string
---@return any, string?
function cache.publish(...) end

---look at channels and their subscribers
---@param ... string
---@return any, string?
function cache.pubsub(...) end

---any key
---@param ... string
---@return any, string?
function cache.randomkey(...) end

---give a value another key
---@param ... string
---@return any, string?
function cache.rename(...) end

---give a value another key if that is not there
---@param ... string
---@return any, string?
function cache.renamenx(...) end

---make a value of what DUMP gave
---@param ... string
---@return any, string?
function cache.restore(...) end

---whether this is a leader or a follower
---@param ... string
---@return any, string?
function cache.role(...) end

---take the last elements of a list
---@param ... string
---@return any, string?
function cache.rpop(...) end

---move the last element to the front of another list
---@param ... string
---@return any, string?
function cache.rpoplpush(...) end

---put elements at the end of a list
---@param ... string
---@return any, string?
function cache.rpush(...) end

---put elements at the end of a list that is there
---@param ... string
---@return any, string?
function cache.rpushx(...) end

---add members to a set
---@param ... string
---@return any, string?
function cache.sadd(...) end

---write a snapshot, and wait for it
---@param ... string
---@return any, string?
function cache.save(...) end

---go through the keys of a database
---@param ... string
---@return any, string?
function cache.scan(...) end

---the size of a set
---@param ... string
---@return any, string?
function cache.scard(...) end

---members of the first set that are in none of the others
---@param ... string
---@return any, string?
function cache.sdiff(...) end

---store the difference of sets
---@param ... string
---@return any, string?
function cache.sdiffstore(...) end

---set a key to a string
---@param ... string
---@return any, string?
function cache.set(...) end

---set or clear one bit of a string
---@param ... string
---@return any, string?
function cache.setbit(...) end

---set a key that expires in seconds
---@param ... string
---@return any, string?
function cache.setex(...) end

---set a key that is not there yet
---@param ... string
---@return any, string?
function cache.setnx(...) end

---overwrite a part of a string
---@param ... string
---@return any, string?
function cache.setrange(...) end

---members that are in all sets
---@param ... string
---@return any, string?
function cache.sinter(...) end

---the number of members that are in all sets
---@param ... string
---@return any, string?
function cache.sintercard(...) end

---store the intersection of sets
---@param ... string
---@return any, string?
function cache.sinterstore(...) end

---whether something is a member
---@param ... string
---@return any, string?
function cache.sismember(...) end

---commands that took long
---@param ... string
---@return any, string?
function cache.slowlog(...) end

---all members of a set
---@param ... string
---@return any, string?
function cache.smembers(...) end

---whether each of several is a member
---@param ... string
---@return any, string?
function cache.smismember(...) end

---move a member to another set
---@param ... string
---@return any, string?
function cache.smove(...) end

---elements in order; store them
---@param ... string
---@return any, string?
function cache.sort(...) end

---elements in order
---@param ... string
---@return any, string?
function cache.sort_ro(...) end

---take any members
---@param ... string
---@return any, string?
function cache.spop(...) end

---say something on a shard channel
---@param ... string
---@return any, string?
function cache.spublish(...) end

---any members, which stay
---@param ... string
---@return any, string?
function cache.srandmember(...) end

---remove members
---@param ... string
---@return any, string?
function cache.srem(...) end

---go through the members of a set
---@param ... string
---@return any, string?
function cache.sscan(...) end

---the length of a string
---@param ... string
---@return any, string?
function cache.strlen(...) end

---a part of a string; see GETRANGE
---@param ... string
---@return any, string?
function cache.substr(...) end

---members of any of the sets
---@param ... string
---@return any, string?
function cache.sunion(...) end

---store the union of sets
---@param ... string
---@return any, string?
function cache.sunionstore(...) end

---exchange two databases
---@param ... string
---@return any, string?
function cache.swapdb(...) end

---seconds and microseconds since 1970
---@param ... string
---@return any, string?
function cache.time(...) end

---count keys that are there, as used now
---@param ... string
---@return any, string?
function cache.touch(...) end

---seconds until a key expires
---@param ... string
---@return any, string?
function cache.ttl(...) end

---remove keys, leaving the freeing of memory for later
---@param ... string
---@return any, string?
function cache.unlink(...) end

---add members, or change their scores
---@param ... string
---@return any, string?
function cache.zadd(...) end

---the size of a sorted set
---@param ... string
---@return any, string?
function cache.zcard(...) end

---the number of members within scores
---@param ... string
---@return any, string?
function cache.zcount(...) end

---members of the first sorted set that are in none of the others
---@param ... string
---@return any, string?
function cache.zdiff(...) end

---store the difference of sorted sets
---@param ... string
---@return any, string?
function cache.zdiffstore(...) end

---add to a member's score
---@param ... string
---@return any, string?
function cache.zincrby(...) end

---members that are in all sorted sets
---@param ... string
---@return any, string?
function cache.zinter(...) end

---the number of members that are in all sorted sets
---@param ... string
---@return any, string?
function cache.zintercard(...) end

---store the intersection of sorted sets
---@param ... string
---@return any, string?
function cache.zinterstore(...) end

---the number of members within a lexicographical range
---@param ... string
---@return any, string?
function cache.zlexcount(...) end

---take members from the first sorted set that has some
---@param ... string
---@return any, string?
function cache.zmpop(...) end

---the scores of several members
---@param ... string
---@return any, string?
function cache.zmscore(...) end

---take the members with the highest scores
---@param ... string
---@return any, string?
function cache.zpopmax(...) end

---take the members with the lowest scores
---@param ... string
---@return any, string?
function cache.zpopmin(...) end

---any members, which stay
---@param ... string
---@return any, string?
function cache.zrandmember(...) end

---members by rank, score or name
---@param ... string
---@return any, string?
function cache.zrange(...) end

---members within a lexicographical range
---@param ... string
---@return any, string?
function cache.zrangebylex(...) end

---members within scores
---@param ... string
---@return any, string?
function cache.zrangebyscore(...) end

---store members by rank, score or name
---@param ... string
---@return any, string?
function cache.zrangestore(...) end

---the rank of a member, from the lowest score
---@param ... string
---@return any, string?
function cache.zrank(...) end

---remove members
---@param ... string
---@return any, string?
function cache.zrem(...) end

---remove members within a lexicographical range
---@param ... string
---@return any, string?
function cache.zremrangebylex(...) end

---remove members within ranks
---@param ... string
---@return any, string?
function cache.zremrangebyrank(...) end

---remove members within scores
---@param ... string
---@return any, string?
function cache.zremrangebyscore(...) end

---members by rank, highest score first
---@param ... string
---@return any, string?
function cache.zrevrange(...) end

---members within a lexicographical range, last first
---@param ... string
---@return any, string?
function cache.zrevrangebylex(...) end

---members within scores, highest first
---@param ... string
---@return any, string?
function cache.zrevrangebyscore(...) end

---the rank of a member, from the highest score
---@param ... string
---@return any, string?
function cache.zrevrank(...) end

---go through the members of a sorted set
---@param ... string
---@return any, string?
function cache.zscan(...) end

---the score of a member
---@param ... string
---@return any, string?
function cache.zscore(...) end

---members of any of the sorted sets
---@param ... string
---@return any, string?
function cache.zunion(...) end

---store the union of sorted sets
---@param ... string
---@return any, string?
function cache.zunionstore(...) end

---the runtime's own table
---@type strata.server|strata.client|strata.proxy|strata.cache
self = nil
