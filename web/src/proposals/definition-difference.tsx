import { useQuery } from '@tanstack/react-query'
import type { ProposalPlanAnswer } from '../../../src/wire/definition/proposal-plan.ts'
import type { DefinitionDifferenceAnswer, ProposalAnswer } from '../../../src/wire/records/proposals.ts'
import { messageOf } from '../api/api-error.ts'
import { countOf } from '../ui/format.ts'
import './definition-difference.css'
import { proposalPlanQuery } from './proposal-queries.ts'

interface DefinitionDifferenceProps {
  readonly proposal: ProposalAnswer
  readonly definition: DefinitionDifferenceAnswer
}

/** The lines that a proposed change of the definition edits, and while it waits its effect on the present state. */
export function DefinitionDifference({ proposal, definition }: DefinitionDifferenceProps) {
  const byFile = [...Map.groupBy(definition.edits, ({ file }) => file)]
  return (
    <div className="definition-difference">
      {proposal.state === 'waiting' && <Plan id={proposal.id} />}
      {byFile.map(([file, edits]) => (
        <section key={file} aria-label={file}>
          <h3>{file}</h3>
          <pre tabIndex={0}>
            {edits.map(({ line, before, after }, index) => (
              <span key={`${line} ${index}`}>
                {before !== null && <del>{`- ${before}\n`}</del>}
                {after !== null && <ins>{`+ ${after}\n`}</ins>}
              </span>
            ))}
          </pre>
        </section>
      ))}
    </div>
  )
}

function Plan({ id }: { readonly id: string }) {
  const { data: plan, error } = useQuery(proposalPlanQuery(id))
  if (error !== null) {
    return (
      <p role="status">
        <strong>It cannot be accepted:</strong> {messageOf(error)}
      </p>
    )
  }
  if (plan === undefined) return <p aria-busy="true">Computing the effect…</p>
  return (
    <section aria-label="Effect">
      <h3>Effect</h3>
      <ul>
        {effectsOf(plan).map((text) => (
          <li key={text}>{text}</li>
        ))}
        {plan.resources.map(({ type, name }) => (
          <li key={`${type} ${name}`}>
            <strong>
              New {type}: {name}
            </strong>
          </li>
        ))}
        {plan.secrets.map((name) => (
          <li key={`secret ${name}`}>
            <strong>New secret: {name}</strong>
          </li>
        ))}
        {plan.conflicts.map((conflict) => (
          <li key={conflict}>
            <strong>Refused:</strong> {conflict}
          </li>
        ))}
      </ul>
    </section>
  )
}

function effectsOf({ files, fields, targets }: ProposalPlanAnswer): readonly string[] {
  return [
    ...files.map(({ path, before, after }) =>
      before === null ? `Adds ${path}` : after === null ? `Removes ${path}` : `Changes ${path}`,
    ),
    ...fields.map(({ field, change, kept, converted, lost }) =>
      [
        `${field} is ${change}`,
        ...(kept > 0 ? [`${countOf(kept, 'value')} kept`] : []),
        ...(converted > 0 ? [`${countOf(converted, 'value')} converted`] : []),
        ...(lost > 0 ? [`${countOf(lost, 'value')} lost`] : []),
      ].join(', '),
    ),
    ...targets.map(({ field, before, after }) => {
      const due = pendingIn(after) - pendingIn(before)
      return `${field}: ${due > 0 ? `${countOf(due, 'more cell')} to compute` : 'no more cells to compute'}`
    }),
  ]
}

function pendingIn(counts: ProposalPlanAnswer['targets'][number]['after']): number {
  return counts === null ? 0 : counts.stale + counts.missing
}
