import { type Door, openDoor } from './door.ts';

export interface PostgresDoor extends Door {
  url: string;
}

export async function openPostgresDoor(databaseUrl: string, stack: AsyncDisposableStack): Promise<PostgresDoor> {
  const url = new URL(databaseUrl);
  const door = await openDoor({ port: Number(url.port), host: url.hostname }, stack);
  url.host = `127.0.0.1:${door.port}`;
  return { ...door, url: url.href };
}
