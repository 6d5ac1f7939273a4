import {
  Braces,
  FileSearch,
  FunctionSquare,
  Globe,
  ListOrdered,
  PencilLine,
  Sheet,
  Sparkles,
} from 'lucide-react'
import { KIND_TEMPLATES, type KindTemplate } from '../derivations/forms/templates.ts'

const ICONS: Readonly<Record<string, typeof Globe>> = {
  sql: FunctionSquare,
  http: Globe,
  ai: Sparkles,
  import: FileSearch,
  cross_sheet: Sheet,
  script: Braces,
  first: ListOrdered,
}

interface KindCardsProps {
  /** Null for values that people write. */
  readonly chosen: KindTemplate | null
  /** Whether the server runs scripts. */
  readonly runsScripts: boolean
  readonly onChoose: (template: KindTemplate | null) => void
}

/** The choice of where the values of a column come from. */
export function KindCards({ chosen, runsScripts, onChoose }: KindCardsProps) {
  const templates = KIND_TEMPLATES.filter(({ kind }) => kind !== 'script' || runsScripts)
  return (
    <fieldset className="kind-cards">
      <legend>Values</legend>
      <Card
        name="Value"
        description="People write them"
        Icon={PencilLine}
        isChosen={chosen === null}
        onChoose={() => onChoose(null)}
      />
      {templates.map((template) => (
        <Card
          key={template.kind}
          name={template.name}
          description={template.description}
          Icon={ICONS[template.kind] ?? Globe}
          isChosen={template === chosen}
          onChoose={() => onChoose(template)}
        />
      ))}
    </fieldset>
  )
}

interface CardProps {
  readonly name: string
  readonly description: string
  readonly Icon: typeof Globe
  readonly isChosen: boolean
  readonly onChoose: () => void
}

function Card({ name, description, Icon, isChosen, onChoose }: CardProps) {
  return (
    <label className="kind-card">
      <input type="radio" name="column-kind" checked={isChosen} onChange={onChoose} />
      <Icon size={15} aria-hidden="true" />
      <span>
        <strong>{name}</strong> <span className="form-hint">{description}</span>
      </span>
    </label>
  )
}
