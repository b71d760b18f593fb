import type { JsonObject } from '../util/json.ts';
import type { ContentCheck } from './check-values.ts';
import type { CharacterSet, SmsFacts } from './sms-parts.ts';

/** Each channel has a file, and a line in `channels.ts`. */
export interface ChannelEntry {
  /** For people: `Messaging app`. */
  readonly label: string;
  /** The kind of its addresses, unless the list has contacts. */
  readonly address: 'msisdn' | 'email';
  /** Keys of `content` that it takes, as in schemas/campaign.schema.json. */
  readonly keys: readonly string[];
  /** Replacements here for keys that only other channels take. */
  readonly instead?: Readonly<Record<string, string>>;
  readonly check: ContentCheck;
  readonly describe: (message: SeenMessage) => Description;
  /** Its names in delivery reports and replies: lower case, letters and digits only, separated by white space. */
  readonly reported: string;
  readonly init: {
    /** The choice in its question. */
    readonly label: string;
    readonly template: string;
    /** Lines of YAML for what it has beside the text; empty: none. */
    readonly yaml: string;
    /** `sms`: a name where networks accept names, else a number. */
    readonly sender: 'sms' | 'number' | 'email';
  };
}

export const EXAMPLE_TEXT = 'Hello {{first_name}}, your order {{order}} is ready. See you soon!\n';

export interface SeenMessage {
  /** Null if it has none, or the provider has it. */
  readonly text: string | null;
  /** Rich content with its texts filled in; `{}` without any. */
  readonly content: JsonObject;
  /** Null where the parts of an SMS are not asked for. */
  readonly sms: (SmsFacts & { readonly characterSet: CharacterSet }) | null;
}

/** In the order in which the recipient sees or hears it. Texts come from outside: who shows them makes them safe. */
export interface Description {
  readonly on: 'phone' | 'inbox' | 'call';
  /** Empty: the provider has all of it. */
  readonly elements: readonly MessageElement[];
}

export type MessageElement =
  | TextElement
  /** `Subject` and its value. */
  | { readonly kind: 'fact'; readonly name: string; readonly value: string }
  /** How it is spoken. */
  | { readonly kind: 'note'; readonly text: string }
  /** Between what is above a text and the text, where nothing else shows the border. */
  | { readonly kind: 'space' }
  | { readonly kind: 'html'; readonly html: string }
  | { readonly kind: 'header' | 'footer'; readonly text: string }
  /** `name`: of a file, empty without one. */
  | { readonly kind: 'image' | 'video' | 'document'; readonly url: string; readonly name: string }
  | CardElement
  | { readonly kind: 'buttons'; readonly buttons: readonly ButtonElement[] }
  | ListElement;

/** `parts` and `odd` of an SMS: where it is cut, and the code points that GSM-7 does not have. */
export interface TextElement {
  readonly kind: 'text';
  readonly text: string;
  readonly parts?: readonly string[];
  readonly odd?: readonly number[];
}

/** A picture with its description, a title and a text; each is empty where the card has none. */
export interface CardElement {
  readonly kind: 'card';
  readonly media: { readonly kind: 'image' | 'video'; readonly url: string; readonly alt: string };
  readonly title: string;
  readonly text: string;
  readonly buttons: readonly ButtonElement[];
}

export interface ButtonElement {
  readonly label: string;
  /** It opens or does this; null: it answers. */
  readonly target: string | null;
}

export interface ListElement {
  readonly kind: 'list';
  readonly button: string;
  readonly sections: readonly {
    readonly title: string;
    readonly rows: readonly { readonly title: string; readonly description: string }[];
  }[];
}
