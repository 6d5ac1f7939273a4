import type { AgentMode, AgentScope } from './agent-scope.ts'
import type { Tool } from './tool.ts'
import {
  getDerivationTool,
  previewDerivationTool,
  removeDerivationTool,
  setDerivationTool,
} from './derivation-tools.ts'
import { addFieldTool, changeFieldTool, removeFieldTool, renameFieldTool } from './field-tools.ts'
import { getChangeTool, listChangesTool, revertChangeTool } from './history-tools.ts'
import { materializeTool, planMaterializeTool, proposedMaterializeTool } from './materialize-tools.ts'
import { getProposalTool, listProposalsTool, proposeDeleteTool, proposeUpsertTool } from './proposal-tools.ts'
import { getRecordTool, listRecordsTool, queryTool, summarizeRecordsTool } from './record-tools.ts'
import { restoreRecordsTool, revertCellTool, revertRunTool } from './revert-tools.ts'
import {
  cancelRunTool,
  getRunTool,
  groupFailuresTool,
  listRunFailuresTool,
  listRunsTool,
} from './run-tools.ts'
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
  groupFailuresTool,
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

/** Tools for the definition, which only an agent that may change it has. */
const OF_DEFINITION: readonly Tool[] = [
  addFieldTool,
  changeFieldTool,
  renameFieldTool,
  removeFieldTool,
  getDerivationTool,
  previewDerivationTool,
  setDerivationTool,
  removeDerivationTool,
  listChangesTool,
  getChangeTool,
  revertChangeTool,
]

/** Returns the tools that an agent can use. */
export function toolsOf({
  mode,
  allowDefinition,
}: Pick<AgentScope, 'mode' | 'allowDefinition'>): readonly Tool[] {
  return [...READING, ...OF_MODE[mode], ...(allowDefinition ? OF_DEFINITION : [])]
}
