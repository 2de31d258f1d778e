// Socket.IO against a cache, with both of its adapters: two servers in one process, and clients
// that are connected to either, over real connections.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createAdapter as createPubSubAdapter } from '@socket.io/redis-adapter';
import { createAdapter as createStreamsAdapter } from '@socket.io/redis-streams-adapter';
import IORedis from 'ioredis';
import { createClient } from 'redis';
import { Server } from 'socket.io';
import { io as connect } from 'socket.io-client';

const [host, port] = process.argv.slice(2);
const patience = 30000;

function want(what, got, wanted) {
  if (JSON.stringify(got) === JSON.stringify(wanted)) return;
  console.error(`${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
  process.exit(1);
}

async function eventually(what, read, wanted) {
  const limit = Date.now() + patience;
  let got = await read();
  while (JSON.stringify(got) !== JSON.stringify(wanted) && Date.now() < limit) {
    await new Promise((done) => setTimeout(done, 20));
    got = await read();
  }
  want(what, got, wanted);
}

async function startServer(adapter, number) {
  const listener = createServer();
  const server = new Server(listener, {
    adapter, connectionStateRecovery: { maxDisconnectionDuration: patience } });
  server.on('connection', (socket) => {
    socket.on('join', (room, done) => { socket.join(room); done(); });
    socket.on('send', (room, text) => socket.to(room).emit('message', text));
  });
  server.on('number', (done) => done(number));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return { server, url: `http://127.0.0.1:${listener.address().port}` };
}

async function startClient(url) {
  const socket = connect(url, { forceNew: true });
  const client = { socket, messages: [] };
  socket.on('message', (text) => client.messages.push(text));
  socket.on('identify', (done) => done(socket.id));
  await new Promise((done) => { socket.once('connect', done); });
  return client;
}

// Waits for the messages of each client, compares them, and empties the lists.
async function wantMessages(what, clients, wanted) {
  await eventually(what, () => clients.map((client) => client.messages.length),
    wanted.map((texts) => texts.length));
  want(what, clients.map((client) => client.messages), wanted);
  for (const client of clients) client.messages.length = 0;
}

async function runRooms(what, [first, second], clients) {
  first.emit('message', 'all');
  await wantMessages(`${what}: to all`, clients, clients.map(() => ['all']));
  for (const each of [0, 2]) await clients[each].socket.emitWithAck('join', 'room');
  second.to('room').emit('message', 'room');
  second.emit('message', 'end');
  await wantMessages(`${what}: to a room`, clients,
    [['room', 'end'], ['end'], ['room', 'end'], ['end']]);
  clients[0].socket.emit('send', 'room', 'from a client');
  await wantMessages(`${what}: from a client`, clients, [[], [], ['from a client'], []]);
  first.except('room').emit('message', 'others');
  await wantMessages(`${what}: except a room`, clients, [[], ['others'], [], ['others']]);
  first.to(clients[3].socket.id).emit('message', 'you');
  await wantMessages(`${what}: to one client`, clients, [[], [], [], ['you']]);
  const texts = [...Array(300).keys()].map(String);
  for (const text of texts) first.emit('message', text);
  await wantMessages(`${what}: many in order`, clients, clients.map(() => texts));
  first.emit('message', Buffer.from([0, 255, 13, 10]));
  await eventually(`${what}: binary`, () => clients.map((client) => client.messages.length),
    [1, 1, 1, 1]);
  for (const client of clients) {
    want(`${what}: binary`, Buffer.from(client.messages.pop()).toString('hex'), '00ff0d0a');
  }
}

async function runServers(what, [first, second], clients) {
  const ids = clients.map((client) => client.socket.id).sort();
  const fetchIds = async (sockets) => (await sockets.fetchSockets()).map(({ id }) => id).sort();
  want(`${what}: fetchSockets`, await fetchIds(first), ids);
  want(`${what}: fetchSockets of a room`, await fetchIds(second.in('room')),
    [clients[0].socket.id, clients[2].socket.id].sort());
  want(`${what}: serverSideEmit`, await first.serverSideEmitWithAck('number'), [1]);
  want(`${what}: answers of the clients`,
    (await second.timeout(patience).emitWithAck('identify')).sort(), ids);
  second.in('room').socketsJoin('second room');
  await eventually(`${what}: socketsJoin`, () => fetchIds(first.in('second room')),
    [clients[0].socket.id, clients[2].socket.id].sort());
  second.in(clients[0].socket.id).socketsLeave('second room');
  await eventually(`${what}: socketsLeave`, () => fetchIds(first.in('second room')),
    [clients[2].socket.id]);
  second.in(clients[1].socket.id).disconnectSockets();
  await eventually(`${what}: disconnectSockets`, () => clients[1].socket.connected, false);
  await eventually(`${what}: fetchSockets after that`, () => fetchIds(second),
    ids.filter((id) => id !== clients[1].id));
}

// A client that reconnects keeps its identifier and rooms, and gets the messages it missed.
async function runRecovery([first, second], client) {
  const { socket } = client;
  first.emit('message', 'before');
  await eventually('streams: before the loss', () => client.messages, ['before']);
  const { id } = socket;
  socket.io.engine.close();
  await eventually('streams: the loss', () => socket.connected, false);
  second.to('room').emit('message', 'missed');
  await eventually('streams: the connection after the loss', () => socket.connected, true);
  want('streams: the session is recovered', [socket.recovered, socket.id], [true, id]);
  await eventually('streams: the missed message', () => client.messages, ['before', 'missed']);
}

async function runAdapter(what, adapters) {
  const started = await Promise.all(adapters.map(startServer));
  const servers = started.map(({ server }) => server);
  await eventually(`${what}: the servers know each other`,
    () => Promise.all(servers.map((server) => server.of('/').adapter.serverCount())), [2, 2]);
  const clients = [];
  for (const each of [0, 0, 1, 1]) clients.push(await startClient(started[each].url));
  for (const client of clients) client.id = client.socket.id;
  await runRooms(what, servers, clients);
  await runServers(what, servers, clients);
  if (what === 'streams') await runRecovery(servers, clients[0]);
  for (const client of clients) client.socket.close();
  await Promise.all(servers.map((server) => server.close()));
}

async function connectRedis() {
  const client = createClient({ socket: { host, port: Number(port) } });
  client.on('error', (error) => want('redis', error.message, 'no error'));
  await client.connect();
  return client;
}

async function runPubSub() {
  const publishers = await Promise.all([connectRedis(), connectRedis()]);
  const subscribers = await Promise.all([connectRedis(), connectRedis()]);
  await runAdapter('pub/sub', publishers.map(
    (publisher, each) => createPubSubAdapter(publisher, subscribers[each])));
}

async function runPubSubWithIoredis() {
  const clients = [...Array(4).keys()].map(() => new IORedis(Number(port), host));
  await runAdapter('pub/sub with ioredis', [createPubSubAdapter(clients[0], clients[1]),
    createPubSubAdapter(clients[2], clients[3])]);
}

async function runStreams() {
  const clients = await Promise.all([connectRedis(), connectRedis()]);
  await runAdapter('streams', clients.map((client) => createStreamsAdapter(client)));
}

for (const run of [runPubSub, runPubSubWithIoredis, runStreams]) {
  await run();
  console.log(run.name, 'done');
}
process.exit(0);
