import { connect } from 'node:net';

/**
 * Sends one command, as a person would type it, and resolves to the answer's first line.
 * @throws {Error} where Redis does not answer within two seconds, or answers with an error.
 */
export function sendRedisCommand(redisUrl: string, command: string): Promise<string> {
  const { hostname, port, password } = new URL(redisUrl);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect({ host: hostname, port: Number(port), timeout: 2000 });
    socket.setEncoding('latin1');
    socket.on('connect', () => socket.write(`AUTH ${decodeURIComponent(password)}\r\n${command}\r\n`));
    socket.on('data', (text) => {
      received += text;
      if (received.split('\r\n').length > 2) socket.destroy();
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      const [, answer] = received.split('\r\n');
      if (!answer || answer.startsWith('-')) reject(new Error(`Redis: ${answer || 'no answer'}`));
      else resolve(answer);
    });
  });
}
