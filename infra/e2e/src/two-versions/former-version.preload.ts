// Loaded into a service before all else (`--import`): the service is then one of the version before.
import { registerHooks } from 'node:module';
import { mutate } from '../weakened/mutants.ts';
import { formerVersion } from './former-version.ts';

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const change = formerVersion.find(({ file }) => new URL(url).pathname.endsWith(`/${file}`));
    return change ? { ...loaded, source: mutate(String(loaded.source), change) } : loaded;
  },
});
