import { apply, diff } from './apply/apply.command.ts';
import { pull } from './apply/pull.command.ts';
import type { Command } from './command.ts';
import { commands as generated } from './generated/commands.gen.ts';
import { completion } from './own/completion.ts';
import { invoke } from './own/invoke.ts';
import { listProfiles, login, logout } from './own/login.ts';
import { tailLogs } from './own/tail-logs.ts';
import { testTransform } from './own/test-transform.ts';
import { verifyLogs } from './own/verify-logs.ts';
import { operationCommand } from './run-operation.ts';

/** What has a command of its own is left out: `proxies test` takes files. */
export const operations = generated.filter(({ method }) => method !== 'proxies.testTransform');

export const commands: readonly Command[] = [
  login,
  logout,
  listProfiles,
  apply,
  diff,
  pull,
  completion,
  ...operations.map(operationCommand),
  testTransform,
  invoke,
  tailLogs,
  verifyLogs,
];
