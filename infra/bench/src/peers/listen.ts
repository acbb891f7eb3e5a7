import type { AddressInfo, Server } from 'node:net';

/** Listens, by default on a free port, and prints the port; the process ends with its standard input. */
export function listen(server: Server, port = 0): void {
  server.listen(port, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
  process.stdin.on('end', () => process.exit()).resume();
}
