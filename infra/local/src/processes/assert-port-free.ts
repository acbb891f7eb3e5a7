import { tryPort } from '@sluice/service-runtime/free-port';
import { errorCode, LaunchError } from '../launch-error.ts';

/** @throws {LaunchError} if the port cannot be listened on. */
export async function assertPortFree(port: number): Promise<void> {
  try {
    await tryPort(port);
  } catch (error) {
    const reason = errorCode(error) === 'EADDRINUSE' ? 'is in use' : `cannot be used (${errorCode(error)})`;
    throw new LaunchError(
      `Port ${port} of 127.0.0.1 ${reason}; choose another, for example PORT=${port + 1} npm start`,
      {
        cause: error,
      },
    );
  }
}
