import { Type } from 'typebox'
import { BudgetAnswer } from './tool-answers.ts'
import { DefinitionChangeAnswer } from './definition/change.ts'
import { ContractChangeAnswer } from './definition/contract-changes.ts'
import { PreviewAnswer } from './definition/preview.ts'

const proposal = Type.Optional(
  Type.String({ description: 'The id of the proposal that it has become; nothing has changed yet.' }),
)

/** Result of the tools that change fields. */
export const FieldToolAnswer = Type.Object({ ...ContractChangeAnswer.properties, proposal })

/** Result of the tools that change derivations, and of the revert of a change. */
export const DefinitionToolAnswer = Type.Object({
  ...DefinitionChangeAnswer.properties,
  proposal,
  run_id: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'With keep_fresh, the run that marks the values as fresh; null for none.',
    }),
  ),
})

/** Result of a preview. */
export const PreviewToolAnswer = Type.Object({
  ...PreviewAnswer.properties,
  budget: Type.Optional(BudgetAnswer),
})
