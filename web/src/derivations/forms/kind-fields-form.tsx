import { useId, useState, type ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { CodeInput } from './code-input.tsx'
import type { FormPart } from './form-context.ts'
import { isMembers, memberOf, membersAt, textOf } from './form-text.ts'
import { HeadersForm } from './headers-form.tsx'
import { fieldsOfKind, type KindField } from './kind-fields.ts'
import { MappingForm, type MappingPick } from './mapping-form.tsx'
import { canShow, namesOf, setMember, setNames, unshown } from './member-forms.ts'
import { ModelField } from './model-field.tsx'
import { NamesInput } from './names-input.tsx'
import { NumberField } from './number-field.tsx'
import { shownText, textToStore } from './text-member.ts'

interface KindFieldsFormProps {
  readonly part: FormPart
  readonly isStep: boolean
  /** The field that a click on a value of a response fills. */
  readonly pick: MappingPick
  readonly onYaml: () => void
  /** Fields that follow those of the kind. */
  readonly children?: ReactNode
}

/** The fields for the members of a kind. Members that they cannot show are named. */
export function KindFieldsForm({ part, isStep, pick, onYaml, children }: KindFieldsFormProps) {
  const { members } = part
  const kind = textOf(members, 'kind')
  const fields = fieldsOfKind(kind, isStep).filter((field) => canShow(field, members))
  const isUsed = (field: KindField): boolean => memberOf(members, field.key) !== null
  const [first, rare] = [
    fields.filter(({ isRare }) => isRare !== true),
    fields.filter((field) => field.isRare),
  ]
  const others = unshown(members, { kind, isStep })
  // Later the person opens and closes it.
  const [startsOpen] = useState(() => rare.some((field) => field.key !== 'inputs' && isUsed(field)))
  const isGet = (memberOf(members, 'method') ?? 'GET') === 'GET'
  const shown = first.filter((field) => field.key !== 'body_template' || !isGet || isUsed(field))
  return (
    <>
      {shown.map((field) => (
        <MemberField key={field.key} field={field} part={part} pick={pick} />
      ))}
      {children}
      {others.length > 0 && (
        <p className="form-hint form-others">
          Only in the YAML, and kept as it is:{' '}
          {others.map((key) => (
            <code key={key}>{key}</code>
          ))}{' '}
          <Button look="quiet" onClick={onYaml}>
            Edit as YAML
          </Button>
        </p>
      )}
      {rare.length > 0 && (
        <details className="form-more" open={startsOpen}>
          <summary>More</summary>
          <div className="form">
            {rare.map((field) => (
              <MemberField key={field.key} field={field} part={part} pick={pick} />
            ))}
          </div>
        </details>
      )}
    </>
  )
}

interface MemberFieldProps {
  readonly field: KindField
  readonly part: FormPart
  readonly pick: MappingPick
}

function MemberField({ field, part, pick }: MemberFieldProps) {
  const { members, at, edit, contract } = part
  const { key, label, hint = null } = field
  const value = memberOf(members, key)
  const id = useId()
  const set = (next: null | boolean | number | string): void =>
    edit((file) => setMember(membersAt(file, at), { at, key }, next))
  const setText = (next: string): void =>
    edit((file) => {
      const own = membersAt(file, at)
      return setMember(own, { at, key }, textToStore(next, memberOf(own, key)))
    })
  switch (field.type) {
    case 'text':
      if (field.slots === undefined && field.lines !== true) {
        return (
          <label>
            {label}
            <input
              value={shownText(value)}
              placeholder={field.example}
              spellCheck={false}
              aria-describedby={hint === null ? undefined : id}
              onChange={(event) => setText(event.target.value)}
            />
            {hint !== null && (
              <span className="form-hint" id={id}>
                {hint}
              </span>
            )}
          </label>
        )
      }
      return (
        <CodeInput
          mode={field.slots ?? 'plain'}
          contract={contract}
          label={label}
          hint={hint}
          text={shownText(value)}
          hasLines={field.lines === true}
          example={field.example ?? ''}
          onText={setText}
        />
      )
    case 'sql':
      return (
        <CodeInput
          mode="sql"
          contract={contract}
          label={label}
          hint={hint}
          text={shownText(value)}
          hasLines
          example=""
          onText={setText}
        />
      )
    case 'model':
      return <ModelField label={label} hint={hint} value={shownText(value)} onValue={setText} />
    case 'number':
      return <NumberField field={field} value={typeof value === 'number' ? value : null} onValue={set} />
    case 'flag':
      return (
        <label className="form-check">
          <input type="checkbox" checked={value === true} onChange={(event) => set(event.target.checked)} />
          <span>{label}</span>
        </label>
      )
    case 'choice':
      return (
        <label>
          {label}
          <select
            value={typeof value === 'string' ? value : field.usual}
            onChange={(event) => set(event.target.value)}
          >
            {field.options.map((option) => (
              <option key={option}>{option}</option>
            ))}
          </select>
        </label>
      )
    case 'field': {
      const name = shownText(value)
      return (
        <label>
          {label}
          <select value={name} onChange={(event) => set(event.target.value)}>
            {!contract.fieldByName.has(name) && <option value={name}>{name}</option>}
            {contract.fields.map((each) => (
              <option key={each.name} value={each.name}>
                {each.title}
              </option>
            ))}
          </select>
        </label>
      )
    }
    case 'fields':
      return (
        <NamesInput
          label={label}
          hint={hint}
          names={namesOf(value)}
          choices={contract.fields}
          contract={contract}
          onNames={(names) => edit((file) => setNames(membersAt(file, at), { at, key }, names))}
        />
      )
    case 'headers':
      return <HeadersForm field={field} part={part} headers={isMembers(value) ? value : {}} />
    case 'mapping':
      return <MappingForm field={field} part={part} pick={pick} />
  }
}
