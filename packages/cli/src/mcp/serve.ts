import type { Terminal } from '../terminal.ts';
import { readVersion } from '../version.ts';
import { registerTools, type Serving } from './tools.ts';

/** Resolves when the client is gone or the signal is aborted. */
export async function serve(serving: Serving, terminal: Terminal, onError: (error: Error) => void): Promise<void> {
  // Loaded here, because no other command needs it.
  const [{ McpServer, fromJsonSchema }, { serveStdio, StdioServerTransport }, version] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
    readVersion(),
  ]);
  const { stdin, stdout, signal } = terminal;
  // A client that does not read any more must not end the process at once, because the session would stay. The
  // transport hears of it, and ends.
  stdout.removeAllListeners('error');
  const transport = new StdioServerTransport(stdin, stdout);
  const build = () => {
    const server = new McpServer({ name: 'sluice', version }, { capabilities: { tools: {} } });
    registerTools(server, { fromJsonSchema }, serving);
    return server;
  };
  const connection = serveStdio(build, { transport, onerror: onError });
  const stop = () => void connection.close();
  const { onclose } = transport;
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await closed;
  signal.removeEventListener('abort', stop);
}
