import { Type } from 'typebox'
import { BudgetAnswer } from './tool-answers.ts'
import { DefinitionChangeAnswer } from './definition/change.ts'
import { ContractChangeAnswer } from './definition/contract-changes.ts'
import { PreviewAnswer } from './definition/preview.ts'

/** Result of the tools that change fields. */
export const FieldToolAnswer = ContractChangeAnswer

/** Result of the tools that change derivations, and of the revert of a change. */
export const DefinitionToolAnswer = Type.Object({
  ...DefinitionChangeAnswer.properties,
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
