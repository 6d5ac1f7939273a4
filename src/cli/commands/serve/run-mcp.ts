import type { AgentScope } from '../../../mcp/tools/agent-scope.ts'
import { serveOverStdio } from '../../../mcp/serve-stdio.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'
import { packageVersion } from '../../../package/package-files.ts'

/**
 * Serves one agent until it disconnects or a signal arrives. Then cancels its calls under way and their runs. Standard
 * output is used for the protocol only.
 */
export async function runMcp({ sheet, out }: CommandContext, scope: AgentScope): Promise<void> {
  const connection = serveOverStdio(sheet, {
    scope,
    version: packageVersion(),
    log: (error) => out.fault(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  })
  const interrupts = onInterrupt(() => void connection.close())
  await connection.ended
  interrupts.release()
  // The parent process may keep the pipe open after a signal.
  process.stdin.destroy()
}
