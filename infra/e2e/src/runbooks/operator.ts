import type { Stack } from '@sluice/local';
import { stopChild, untilEnded } from '@sluice/local/parts';
import { serveHttp } from '@sluice/testing';

export interface OperatorOptions {
  stack: Stack;
  /** What the stack was started with; changed by deployments. */
  environment: Record<string, string>;
}

const services = ['management-api', 'token-vault', 'proxy-gateway', 'worker', 'ingress'];

/**
 * What an operator has beside the repository, as functions for bash: `deploy NAME=value …` gives every service settings and
 * restarts it; `lose_primary` ends Postgres as `kill -9` does.
 */
export async function startOperator(
  { stack, environment }: OperatorOptions,
  closing: AsyncDisposableStack,
): Promise<string> {
  async function deploy(settings: string[]): Promise<void> {
    for (const setting of settings) {
      const [name = ''] = setting.split('=', 1);
      const value = setting.slice(name.length + 1);
      if (value === '') delete environment[name];
      else environment[name] = value;
    }
    // Each is there once, so that by turns nothing would be served in between either.
    await Promise.all(
      services.map(async (name) => {
        const child = stack.processes.get(name);
        if (child) await stopChild(child, 'SIGTERM');
        await stack.restart(name);
      }),
    );
  }
  async function losePrimary(): Promise<void> {
    const postgres = stack.processes.get('postgres');
    if (!postgres) throw new Error('There is no Postgres of ours');
    postgres.kill('SIGKILL');
    await untilEnded(postgres);
  }
  const url = await serveHttp(closing, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const lines = Buffer.concat(chunks).toString().split('\n').filter(Boolean);
    try {
      await (request.url === '/deploy' ? deploy(lines) : losePrimary());
      response.end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  return [
    `deploy() { printf '%s\\n' "$@" | curl -sS --fail-with-body --data-binary @- ${url}/deploy; }`,
    `lose_primary() { curl -sS --fail-with-body -X POST ${url}/lose-primary; }`,
  ].join('\n');
}
