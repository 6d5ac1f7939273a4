import type { AgentMode } from './agent-scope.ts'
import type { Tool } from './tool.ts'
import { materializeTool, planMaterializeTool, proposedMaterializeTool } from './materialize-tools.ts'
import { getProposalTool, listProposalsTool, proposeDeleteTool, proposeUpsertTool } from './proposal-tools.ts'
import { getRecordTool, listRecordsTool, queryTool, summarizeRecordsTool } from './record-tools.ts'
import { restoreRecordsTool, revertCellTool, revertRunTool } from './revert-tools.ts'
import { cancelRunTool, getRunTool, listRunFailuresTool, listRunsTool } from './run-tools.ts'
import {
  explainCellTool,
  getCellStatesTool,
  getContractTool,
  getPermissionsTool,
  getProvenanceTool,
  getStatusTool,
  listDerivationsTool,
} from './sheet-tools.ts'
import { deleteRecordsTool, upsertRecordsTool } from './write-tools.ts'

/** Tools that change nothing; every server has them. */
const READING: readonly Tool[] = [
  getContractTool,
  getPermissionsTool,
  listRecordsTool,
  getRecordTool,
  queryTool,
  summarizeRecordsTool,
  getStatusTool,
  explainCellTool,
  getCellStatesTool,
  getProvenanceTool,
  listDerivationsTool,
  listRunsTool,
  getRunTool,
  listRunFailuresTool,
  planMaterializeTool,
  listProposalsTool,
  getProposalTool,
]

const OF_MODE: Readonly<Record<AgentMode, readonly Tool[]>> = {
  write: [
    upsertRecordsTool,
    deleteRecordsTool,
    materializeTool,
    cancelRunTool,
    revertCellTool,
    revertRunTool,
    restoreRecordsTool,
  ],
  'read-only': [],
  // A proposal cannot contain a revert, so reverts are left to people.
  propose: [proposeUpsertTool, proposeDeleteTool, proposedMaterializeTool, cancelRunTool],
}

/** Returns the tools that an agent can use. */
export function toolsOf(mode: AgentMode): readonly Tool[] {
  return [...READING, ...OF_MODE[mode]]
}
