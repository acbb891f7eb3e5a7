import { apply, diff } from './apply/apply.command.ts';
import { pull } from './apply/pull.command.ts';
import type { Command } from './command.ts';
import { commands as operationCommands } from './generated/commands.gen.ts';
import { completion } from './own/completion.ts';
import { invoke } from './own/invoke.ts';
import { listProfiles, login, logout } from './own/login.ts';
import { tailLogs } from './own/tail-logs.ts';
import { testTransform } from './own/test-transform.ts';
import { verifyLogs } from './own/verify-logs.ts';
import { operationCommand } from './run-operation.ts';

export const commands: readonly Command[] = [
  login,
  logout,
  listProfiles,
  apply,
  diff,
  pull,
  completion,
  ...operationCommands.map(operationCommand),
  testTransform,
  invoke,
  tailLogs,
  verifyLogs,
];
