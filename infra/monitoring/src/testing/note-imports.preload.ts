// Loaded into services before all else (`--import`): writes each module of OpenTelemetry's SDK that is loaded to the
// file that is named in the query.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const file = new URL(import.meta.url).searchParams.get('file');
if (!file) throw new Error('No file is named');

registerHooks({
  load(url, context, nextLoad) {
    // The API alone comes with prom-client, which looks for an active span in it
    const isOfSdk = url.includes('/@opentelemetry/') && !url.includes('/@opentelemetry/api/');
    if (isOfSdk || url.endsWith('/open-tracing.ts')) appendFileSync(file, `${url}\n`);
    return nextLoad(url, context);
  },
});
