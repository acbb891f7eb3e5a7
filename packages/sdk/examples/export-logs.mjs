// Writes an audit log of any size to standard output, and resumes where it was interrupted. Settings: SLUICE_URL,
// SLUICE_API_KEY (of a management Application with log:read).
import { Sluice } from '@sluice/sdk';

const { SLUICE_URL, SLUICE_API_KEY } = process.env;
const sluice = new Sluice({ baseUrl: SLUICE_URL, apiKey: SLUICE_API_KEY });
const write = (text) => new Promise((resolve) => process.stdout.write(text, resolve)); // waits for the reader

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
      await write(lines);
      const { leaf_index, dropped } = JSON.parse(lines.trimEnd().split('\n').at(-1)); // the last complete line
      start = leaf_index === undefined ? dropped : leaf_index + 1;
    }
    isComplete = true;
  } catch (error) {
    tries -= 1;
    if (tries === 0 || start === 0) throw error;
    console.error(`It broke off; going on at ${start}`);
  }
}
console.error(`Written: ${start} rows`);
