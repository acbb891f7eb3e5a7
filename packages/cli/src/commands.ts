import { apply, diff } from './apply/apply.command.ts';
import { pull } from './apply/pull.command.ts';
import type { Command } from './command.ts';
import { commands as generated } from './generated/commands.gen.ts';
import { mcp } from './mcp/mcp.command.ts';
import { completion } from './own/completion.ts';
import { explain } from './own/explain.ts';
import { invoke } from './own/invoke.ts';
import { listProfiles, login, logout } from './own/login.ts';
import { search } from './own/search.ts';
import { tailInvocations } from './own/tail-invocations.ts';
import { tailLogs } from './own/tail-logs.ts';
import { testReactor } from './own/test-reactor.ts';
import { testTransform } from './own/test-transform.ts';
import { verifyLogs } from './own/verify-logs.ts';
import { runWithRoutes } from './run/run.command.ts';
import { operationCommand } from './run-operation.ts';

const withOwnCommand = [
  'proxies.testTransform',
  'reactors.test',
  'applications.explain',
  'invocations.watch',
  'search',
];

/**
 * What has a command of its own is left out: `proxies test` and `reactors test` take files, `explain` ids, and `search` a
 * text.
 */
export const operations = generated.filter(({ method }) => !withOwnCommand.includes(method));

export const commands: readonly Command[] = [
  login,
  logout,
  listProfiles,
  apply,
  diff,
  pull,
  runWithRoutes,
  completion,
  ...operations.map(operationCommand),
  search,
  explain,
  testTransform,
  testReactor,
  invoke,
  mcp,
  tailLogs,
  tailInvocations,
  verifyLogs,
];
