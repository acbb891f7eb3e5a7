// Deletes the Applications whose names begin with a prefix: lists may be iterated while items are deleted.
// Settings: SLUICE_URL, SLUICE_API_KEY (a management Application's); the prefix is the argument.
const { Sluice, ForbiddenError } = require('@sluice/sdk');

const { SLUICE_URL, SLUICE_API_KEY } = process.env;
const [, , prefix = 'temporary'] = process.argv;

async function cleanUp() {
  const sluice = new Sluice({ baseUrl: SLUICE_URL, apiKey: SLUICE_API_KEY });
  try {
    for await (const application of sluice.applications.list({ size: 100 })) {
      if (!application.name.startsWith(prefix)) continue;
      await sluice.applications.delete(application.id);
      console.log('Deleted', application.name);
    }
  } catch (error) {
    if (!(error instanceof ForbiddenError)) throw error;
    console.error('This key may not delete Applications:', error.detail);
    process.exitCode = 1;
  }
}

cleanUp();
