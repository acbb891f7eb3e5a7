import { serviceLogger } from './index.ts';
import { warnOfRemovedSettings } from './removed-settings.ts';

test('a setting that is gone is named once where it is set, and nothing else is', () => {
  const lines: { level: string; msg: string; setting?: string }[] = [];
  const log = serviceLogger(
    { service: 'test', level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  warnOfRemovedSettings({ DESTINATION_BREAKER_FAILURES: '5', DESTINATION_BREAKER_OPEN_MS: '', PORT: '80' }, log);
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'warn',
      setting: 'DESTINATION_BREAKER_FAILURES',
      msg: expect.stringContaining('has no effect any more'),
    }),
  ]);
});
