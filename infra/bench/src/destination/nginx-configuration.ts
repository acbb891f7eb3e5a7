/** One process that answers everything with the same text and keeps its connections for good. */
export function nginxConfiguration(options: { folder: string; port: number; answer: string }): string {
  const { folder, port, answer } = options;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  default_type application/json;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
  server {
    listen 127.0.0.1:${port};
    location / { return 200 '${answer}'; }
  }
}
`;
}
