import { Type, type Static } from 'typebox'
import type { ProposalPlan } from '../../sheet/definition/change/proposed-change.ts'
import { DefinitionChangeAnswer, toDefinitionChangeAnswer } from './change.ts'

/** Response of `POST /api/proposals/{id}/plan`. */
export const ProposalPlanAnswer = Type.Object({
  ...DefinitionChangeAnswer.properties,
  resources: Type.Array(Type.Object({ type: Type.String(), name: Type.String() }), {
    description:
      'What derivations would use and do not use now, by `type`: a `host`, a `file`, another `sheet` or a `process`.',
  }),
  secrets: Type.Array(Type.String(), {
    description: 'The environment variables that derivations would send and do not send now.',
  }),
})
export type ProposalPlanAnswer = Static<typeof ProposalPlanAnswer>

/** Converts the plan of a proposal to the wire format. */
export function toProposalPlanAnswer({ resources, secrets, ...report }: ProposalPlan): ProposalPlanAnswer {
  return {
    ...toDefinitionChangeAnswer(report),
    resources: resources.map(({ type, name }) => ({ type, name })),
    secrets: [...secrets],
  }
}
