import { freePort } from '@sluice/local';
import type { BenchmarkContext } from '../benchmark.ts';
import { startNginx } from '../destination/start-nginx.ts';

export interface NginxProxy extends AsyncDisposable {
  pid: number;
  url: string;
}

/** Starts nginx as a proxy that buffers as little of a body as possible. @throws where there is no nginx. */
export async function startNginxProxy(context: BenchmarkContext, destinationUrl: string): Promise<NginxProxy> {
  const port = await freePort();
  const http = `  upstream destination { server ${new URL(destinationUrl).host}; keepalive 32; }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 0;
    location / {
      proxy_pass http://destination;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
    }
  }`;
  const nginx = await startNginx(context, { name: 'nginx-proxy', port, http });
  if (!nginx) throw new Error('There is no nginx to compare with');
  return { pid: nginx.pid, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => nginx[Symbol.asyncDispose]() };
}
