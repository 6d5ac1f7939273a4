import { listChanges, readChange, revertChange } from '../../sheet/definition/change/history.ts'
import { ChangeAnswer, HistoryAnswer, toChangeAnswer, toHistoryAnswer } from '../../wire/definition/change.ts'
import { DefinitionToolAnswer } from '../../wire/definition-tool-answers.ts'
import { ChangeInput, ChangePageInput, RevertChangeInput } from '../../wire/definition-tool-inputs.ts'
import { TOOL_LIMIT } from '../../wire/tool-inputs.ts'
import { countText, moreText } from './count-text.ts'
import { changed } from './derivation-tools.ts'
import { CHANGES_DEFINITION } from './field-tools.ts'
import { defineTool, READS } from './tool.ts'

export const listChangesTool = defineTool({
  name: 'list_definition_changes',
  title: 'List changes of the definition',
  description: 'Lists the changes of the contract and the derivation files, newest first, edits by hand too.',
  input: ChangePageInput,
  output: HistoryAnswer,
  annotations: READS,
  async run({ limit = TOOL_LIMIT, cursor = null }, { sheet }) {
    const answer = toHistoryAnswer(await listChanges(sheet, { limit, cursor }))
    return {
      structured: answer,
      text: `${countText(answer.changes.length, 'change')}, newest first.${moreText(answer)}`,
    }
  },
})

export const getChangeTool = defineTool({
  name: 'get_definition_change',
  title: 'Get a change of the definition',
  description:
    'Returns one change of the definition: the texts of its files before and after, and its effect.',
  input: ChangeInput,
  output: ChangeAnswer,
  annotations: READS,
  async run({ change }, { sheet }) {
    const answer = toChangeAnswer(await readChange(sheet, change))
    const paths = answer.files.map(({ path }) => path).join(', ')
    return { structured: answer, text: `Change ${change} of ${paths}, at ${answer.at}.` }
  },
})

export const revertChangeTool = defineTool({
  name: 'revert_definition_change',
  title: 'Revert a change of the definition',
  description:
    'Takes back a change of the definition: files get their texts from before, renamed fields their names, and removed and ' +
    'converted fields their values. Refused if a file was changed again since. Set dry_run first.',
  input: RevertChangeInput,
  output: DefinitionToolAnswer,
  annotations: CHANGES_DEFINITION,
  async run({ change, confirm = {}, note = null, dry_run: dryRun = false }, { sheet, actor, scope }) {
    const proposes = scope.mode === 'propose'
    const request = { change, confirm: new Map(Object.entries(confirm)), note, dryRun, actor, proposes }
    return changed(await revertChange(sheet, request))
  },
})
