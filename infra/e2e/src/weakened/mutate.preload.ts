// Loaded into a service before all else (`--import`, with the mutant's name in the query): changes one file of the
// product's source as it is loaded.
import { registerHooks } from 'node:module';
import { inPlace, mutants, mutate } from './mutants.ts';

const name = new URL(import.meta.url).searchParams.get('mutant');
const mutant = mutants.find((one) => one.name === name);
if (!mutant) throw new Error(`There is no mutant ${name}`);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!new URL(url).pathname.endsWith(`/${mutant.file}`)) return loaded;
    const source = mutate(String(loaded.source), mutant);
    process.stderr.write(`${inPlace(mutant.name)}\n`);
    return { ...loaded, source };
  },
});
