// Writes the audit log to a file, of any size, and goes on where it broke off.
// Settings: SLUICE_URL, SLUICE_API_KEY (a management Application's, with log:read); the file is the argument.
import { open } from 'node:fs/promises';
import { Sluice } from '@sluice/sdk';

const { SLUICE_URL, SLUICE_API_KEY } = process.env;
const [, , path = 'logs.ndjson'] = process.argv;
const sluice = new Sluice({ baseUrl: SLUICE_URL, apiKey: SLUICE_API_KEY });
const file = await open(path, 'w');

let start = 0;
for (let isComplete = false, tries = 5; !isComplete; ) {
  let rest = '';
  const { body } = await sluice.logs.export({ start });
  try {
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const end = text.lastIndexOf('\n') + 1;
      if (end === 0) {
        rest += text;
        continue;
      }
      const lines = rest + text.slice(0, end);
      rest = text.slice(end);
      await file.write(lines);
      const { leaf_index, dropped } = JSON.parse(lines.trimEnd().split('\n').at(-1)); // the last that is whole
      start = leaf_index === undefined ? dropped : leaf_index + 1;
    }
    isComplete = true;
  } catch (error) {
    tries -= 1;
    if (tries === 0 || start === 0) throw error;
    console.error(`It broke off; going on at ${start}`);
  }
}
await file.close();
console.log(`Written: ${start} rows`);
