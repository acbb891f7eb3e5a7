// A name server on a local UDP port, in its own process. Its parent sends the zone and receives each query.
import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import type { DnsZone } from './start-dns-server.ts';

let zone: DnsZone = {};
process.on('message', (message: DnsZone) => {
  zone = message;
  process.send?.({ taken: true });
});
process.on('disconnect', () => process.exit());

const socket = createSocket('udp4');
socket.on('message', (query, { port, address }) => {
  const { name, type, end } = readQuestion(query);
  process.send?.({ asked: `${type === 1 ? 'A' : 'AAAA'} ${name}` });
  const entry = zone[name];
  if (entry === 'silent') return;
  const records = typeof entry === 'object' ? entry.addresses.filter((each) => isIPv4(each) === (type === 1)) : [];
  const rcode = entry === undefined ? 3 : entry === 'fails' ? 2 : 0;
  const ttl = typeof entry === 'object' ? entry.ttl : 0;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | rcode, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  const answers = records.map((each) => encodeRecord(each, { type, ttl }));
  socket.send(Buffer.concat([head, query.subarray(12, end), ...answers]), port, address);
});
socket.bind(0, '127.0.0.1', () => process.send?.({ port: socket.address().port }));

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += size + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function encodeRecord(address: string, { type, ttl }: { type: number; ttl: number }): Buffer {
  const bytes = isIPv4(address) ? address.split('.').map(Number) : bytesOfIPv6(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, Buffer.from(bytes)]);
}

/** With at most one `::`. */
function bytesOfIPv6(address: string): number[] {
  const [front = '', back = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const zeros = Array.from({ length: 8 - groups(front).length - groups(back).length }, () => 0);
  return [...groups(front), ...zeros, ...groups(back)].flatMap((group) => [group >> 8, group & 0xff]);
}
