import { campaign, type Explained, HELLO, list, template } from './docs-example.ts';

const PEOPLE = HELLO['hello/people.csv'];

/** Lists and templates: why each code is said, an example, and what to do. */
export const LISTS = {
  'csv-syntax': {
    cause: 'A quote opens a value and is never closed, or is in the middle of one.',
    fix: 'Close it at the place of the message. A quote inside a value is written twice: `"5"" pipe"`.',
    example: { files: list('+447400123456,"Ada,0042') },
  },
  'csv-ragged-row': {
    cause:
      'A value with a comma or a line end has no quotes, a cell is missing, or the delimiter is another one than that of the first line.',
    fix: 'Put the value in quotes, or name the delimiter: `recipients.delimiter: ";"`.',
    example: { files: list('+447400123456,Ada') },
  },
  'csv-no-header': {
    cause: 'The list is empty, or its first row is not there.',
    fix: 'Name the columns in the first row.',
    example: { files: { 'hello/people.csv': '' } },
  },
  'csv-blank-header': {
    cause: 'Spreadsheets write a delimiter too many where a column was emptied and not deleted.',
    fix: 'Delete the column in the spreadsheet, or name it.',
    example: { files: list('+447400123456,Ada,x,0042', 'msisdn,first_name,,order') },
  },
  'csv-duplicate-header': {
    cause: 'Two columns have one name, so it is not clear which one a template means.',
    fix: 'Rename one of the two in the first row.',
    example: { files: list('+447400123456,Ada,0042,0043', 'msisdn,first_name,order,order') },
  },
  'csv-forbidden-header': {
    cause: 'Columns with these names would change how objects work in JavaScript.',
    fix: 'Rename the column.',
    example: { files: list('+447400123456,Ada,0042,x', 'msisdn,first_name,order,__proto__') },
  },
  'csv-nul': {
    cause: 'The file is UTF-16 without a byte order mark, or not a text at all.',
    fix: 'Say `recipients.encoding: utf-16le`, or export the list again as CSV.',
    example: {
      files: {
        'hello/people.csv': {
          bytes: 'msisdn,first_name,order\n+447400123456,A\0da,0042\n',
          shown: 'msisdn,first_name,order\n+447400123456,A␀da,0042\n',
        },
      },
    },
  },
  'csv-row-too-large': {
    cause:
      'One row has more than 1,048,576 characters: nearly always a quote that is never closed and takes in the rows behind it.',
    fix: 'Look for a single quote in the row where it begins.',
    example: {
      files: {
        'hello/people.csv': {
          bytes: `msisdn,first_name,order\n+447400123456,"Ada,0042\n${'+447400123457,Bo,0043\n'.repeat(60_000)}`,
          shown: 'msisdn,first_name,order\n+447400123456,"Ada,0042\n(and 60,000 rows more)\n',
        },
      },
    },
  },
  'csv-empty-rows': {
    cause: 'A spreadsheet writes rows of nothing but delimiters where cells below the list were once used.',
    fix: 'Nothing has to be done. The line is that of the first such row.',
    example: { files: list('+447400123456,Ada,0042\n,,') },
  },
  'csv-empty-columns': {
    cause:
      'A spreadsheet writes columns without a name where cells beside the list were once used. A row with a value there is refused.',
    fix: 'Nothing has to be done.',
    example: { files: list('+447400123456,Ada,0042,', 'msisdn,first_name,order,') },
  },
  'csv-no-rows': {
    cause:
      'A list has a header and nothing below it. For a list of recipients it is a warning: nothing is sent, and when the list is filled later, the same occurrence is sent. For a price list it is an error.',
    fix: 'Add the rows, or take `prices` out of handbill.yaml.',
    example: {
      files: { 'handbill.yaml': 'prices: prices.csv\n', 'prices.csv': 'country,channel,price,currency\n' },
    },
  },
  'wrong-encoding': {
    cause:
      '`recipients.encoding` names a code page, but the file is UTF-8: each character outside ASCII would be sent as two or three others. A file in a code page is hardly ever valid UTF-8 by chance. Or the code page is another one than the list was written in, which shows in words such as `йЧБО` (KOI8-R, read as windows-1251) or `RenŽe` (Mac Roman, read as windows-1252): an error where half of the rows with letters beyond ASCII are so, else a warning. Or the list holds U+FFFD or a control character: a program could not read its letters before it was saved.',
    fix: 'Set `recipients.encoding: utf-8`. The line is that of the first such character: if `handbill preview` shows it as it should be, nothing has to be done. Where another code page wrote the list, name that one (`koi8-r`, `macintosh`), or save the list as UTF-8 and leave `encoding` out. Where the list itself holds texts such as `RenÃ©e`, export it again as UTF-8.',
    example: {
      files: {
        ...campaign('recipients: { csv: people.csv, encoding: windows-1252 }'),
        'hello/people.csv': 'msisdn,first_name,order\n+447400123456,Miloš,0042\n',
      },
    },
  },
  'blank-ends': {
    cause:
      'A blank, a line end or a character that shows nothing is at the beginning or the end of a value. In the message it makes a hole, and some of these characters make an SMS Unicode.',
    fix: 'Write `{{trim name}}`, which removes them, or correct the list.',
    example: { files: list('+447400123456,"Ada ",0042') },
  },
  'damaged-value': {
    cause:
      'A program wrote `NULL`, `None` or the like where there is no value, or a spreadsheet wrote an error value or made `1.00235E+12` of a number. `default`, `{{#if}}` and required columns take words for no value and error values for empty. `#SALE!` looks like an error value and stays a text. `Ren%C3%A9` is still encoded for a link, and `=?UTF-8?Q?Ren=C3=A9?=` for an email.',
    fix: 'Correct the list, or write `{{default first_name "..."}}`, which replaces words for no value and error values.',
    example: { files: list('+447400123456,NULL,0042') },
  },
  'list-too-old': {
    cause:
      'The export that writes the list has not run, or has failed. The age is that of the file: a checkout of git, or a copy, is new.',
    fix: 'Let the export run. To send the list as it is, once: `--allow list-too-old`.',
    example: {
      files: {
        ...campaign('recipients: { csv: people.csv, maxAge: 26h }'),
        'hello/people.csv': { bytes: PEOPLE, shown: PEOPLE, hoursOld: 31 },
      },
    },
  },
  'list-too-short': {
    cause:
      'An export wrote a header and few rows, or none. `due` refuses a list without a row by itself; the occurrence is then not used up, and is sent once the list is there.',
    fix: 'Look at the export. Where the list may be empty, set `limits.minRecipients: 0`; once only: `--allow list-too-short`.',
    example: { files: campaign('limits: { minRecipients: 100 }') },
  },
  'list-size-changed': {
    cause:
      'The list has far fewer rows than that of the last occurrence, as a list that was cut off; or far more, as one without its filter.',
    fix: 'Look at the list. If it is right, send it once with `--allow list-size-changed`: the next one is compared with the list before it. If lists stay this long, leave `limits.change` out for one occurrence.',
    example: {
      files: campaign('limits: { change: 30% }'),
      first: ['send hello --occurrence monday'],
      afterwards: list('+447400123456,Ada,0042'),
      run: 'send hello --occurrence tuesday',
    },
  },
  'list-sampled': {
    cause: 'The list is not in git, as it should be, and the campaign names a sample of it: CI checks that instead.',
    fix: 'Nothing has to be done where nothing is sent. `send`, `due` and `plan` need the list itself.',
    example: {
      files: {
        ...campaign('recipients: { csv: people.csv, sample: sample.csv }'),
        'hello/people.csv': null,
        'hello/sample.csv': PEOPLE,
      },
    },
  },
  'sample-differs': {
    cause: 'A column was added to the list, renamed or removed, and the sample is as it was.',
    fix: 'Give the sample the columns of the list: a template that uses one of them is else checked wrongly in CI.',
    example: {
      files: {
        ...campaign('recipients: { csv: people.csv, sample: sample.csv }'),
        'hello/sample.csv': 'msisdn,first_name,number\n+447400123456,Ada,0042\n',
      },
    },
  },
  'invalid-rows': {
    cause:
      'Rows of the list have an address or a value that cannot be used. The errors before this one name the fault of each. Of a list that cannot be read to its end, handbill names the first 20 faults.',
    fix: 'Correct the rows. `--allow invalid-rows` skips them in this start; `recipients.onInvalid: skip` skips them in each.',
    example: { files: list('07400 123456,Ada,0042'), run: 'send hello' },
  },
  'unknown-column': {
    cause: 'The campaign names a column that the header does not have; the names are compared letter by letter.',
    fix: 'Take one of those that the message lists, or rename the column.',
    example: { files: campaign('recipients: { csv: people.csv, to: mobile }') },
  },
  'invalid-address': {
    cause:
      'A number has no country code, is too short or too long for its country, or lost digits in a spreadsheet; an email address cannot exist.',
    fix: 'Correct the cell; set `recipients.defaultCountry` where numbers are written as at home; or skip such rows with `--allow invalid-rows`.',
    example: { files: list('07400 123456,Ada,0042') },
  },
  'wrong-length-number': {
    cause:
      'The country has numbers of that length, but its mobile numbers are shorter or longer, and the numbering plan does not use the number: a digit is missing or too many.',
    fix: 'Correct the number. It is a warning; `recipients.alsoInvalid: [wrong-length]` makes such a row an invalid one.',
    example: { files: list('+44740012345,Ada,0042') },
  },
  'landline-number': {
    cause: 'The numbering plan says that the number is a landline. Most networks deliver no SMS to one, and bill it.',
    fix: 'Ask for a mobile number. It is a warning; `recipients.alsoInvalid: [landline]` makes such a row an invalid one.',
    example: { files: list('+442083661177,Ada,0042') },
  },
  'special-number': {
    cause:
      'The numbering plan says that the number is premium-rate, toll-free, shared-cost, personal, a pager, company-wide or a voicemail. Few take texts, and those with a premium rate cost the sender: such numbers in a form are a known fraud.',
    fix: 'Ask for a mobile number. It is a warning; `recipients.alsoInvalid: [premium]`, with the type that is named, makes such a row an invalid one.',
    example: { files: list('+449001234567,Ada,0042') },
  },
  'unassigned-number': {
    cause: 'The numbering plan of the country has not issued this range, or keeps it for films and documentation.',
    fix: 'Look whether a digit is wrong. It is a warning: the number is sent to.',
    example: { files: list('+447700900011,Ada,0042') },
  },
  'unusual-address': {
    cause:
      'An email address has characters before the @ that are not ASCII: a curly apostrophe of a word processor, a Cyrillic letter in a Latin word, or a letter that only mail servers with SMTPUTF8 take.',
    fix: 'Type the address again. It is a warning: the address is sent to.',
    example: {
      files: {
        'hello/campaign.yaml':
          'name: hello\nchannel: email\nfrom: news@riverside.example\ncontent: { subject: News, text: Hello }\nrecipients: people.csv\n',
        'hello/people.csv': 'email\nshaun.o’brien@example.com\n',
      },
    },
  },
  'duplicate-address': {
    cause:
      'Two rows have different keys (`recipients.key`) and the same address. Both are sent to: they may be two people with one phone, or one person who is in the list twice. In a list of devices of the sandbox, it is an error.',
    fix: 'Set `recipients.duplicates`: `skip` sends to the first row only, `keep` sends to both without the warning, `refuse` makes it an error.',
    example: {
      files: {
        ...campaign('recipients: { csv: people.csv, key: order }'),
        ...list('+447400123456,Ada,0042\n+447400123456,Ada,0043'),
      },
    },
  },
  'duplicate-differs': {
    cause:
      'Two rows have the same key, and other values where the message uses them. The first row counts; the later one is skipped as `duplicate`.',
    fix: 'Remove the row that is wrong. If you want to send both, name the columns that tell them apart: `recipients.key: [msisdn, order]`.',
    example: { files: list('+447400123456,Ada,0042\n+447400123456,Ada,0043') },
  },
  'duplicate-row': {
    cause: 'A row has the key or the address of an earlier one, and `recipients.duplicates` is `refuse`.',
    fix: 'Remove one of the rows, or skip such rows: `recipients.duplicates: skip`.',
    example: {
      files: {
        ...campaign('recipients: { csv: people.csv, duplicates: refuse }'),
        ...list('+447400123456,Ada,0042\n+447400123456,Ada,0042'),
      },
    },
  },
  'invalid-where': {
    cause: 'The query names an operator that is not known, or compares a column with a value of another type.',
    fix: 'Take an operator of [segments.md](segments.md); dates and numbers need a type under `recipients.columns`.',
    example: { files: campaign('recipients: { csv: people.csv, where: { order: { $near: 42 } } }') },
  },
  'column-type': {
    cause:
      'A cell of a column that is declared as a number or date holds something else, such as a separator of thousands.',
    fix: 'Write `1234.5` and `2026-01-31`, or say how they are written: `{ type: date, format: dd/MM/yyyy }`, `{ type: number, decimal: "," }`. Correct the cell, or take the type out.',
    example: {
      files: {
        ...campaign('recipients: { csv: people.csv, columns: { order: number } }'),
        ...list('+447400123456,Ada,A-42'),
      },
    },
  },
  'invalid-time-zone': {
    cause: 'A cell holds an offset, an abbreviation or a city that no zone is called after.',
    fix: 'Write the IANA name, such as `Europe/London`. Where the cell is empty, the number says the zone.',
    example: {
      files: {
        ...campaign('recipients: { csv: people.csv, timeZone: zone }'),
        ...list('+447400123456,Ada,0042,Europe/Bath', 'msisdn,first_name,order,zone'),
      },
    },
  },
  'empty-key': {
    cause:
      '`recipients.key` names the column that identifies a recipient, and it is empty in this row. Error values of spreadsheets, `NULL` and its kin, and numbers in scientific notation are no keys: many rows would share them.',
    fix: 'Fill the cell, or leave `recipients.key` out: then the address identifies the person.',
    example: {
      files: {
        ...campaign('recipients: { csv: people.csv, key: customer }'),
        ...list('+447400123456,Ada,0042,', 'msisdn,first_name,order,customer'),
      },
    },
  },
  'template-syntax': {
    cause: 'A `{{` is not closed, a block is not ended, or an expression has a character that it cannot have.',
    fix: 'Look at the place; every `{{#if x}}` has its `{{/if}}`.',
    example: { files: template('Hello {{first_name, your order is ready.') },
  },
  'template-too-large': {
    cause: 'Blocks are nested more than 32 levels deep, or the texts of a campaign are larger than handbill compiles.',
    fix: 'Simplify the template; put what is repeated into a partial.',
    example: {
      files: {
        'hello/hello.hbs': {
          bytes: `${'{{#if order}}'.repeat(60)}Ready${'{{/if}}'.repeat(60)}`,
          shown: '{{#if order}}{{#if order}} ... (60 times) Ready ... {{/if}}{{/if}}\n',
        },
      },
    },
  },
  'template-not-allowed': {
    cause:
      'Decorators, inline partials, raw blocks, `log` and `lookup` of hidden properties are switched off: a template only writes text.',
    fix: 'Leave it out; what templates can do is in [templates.md](templates.md).',
    example: { files: template('Hello {{first_name}}. {{log order}}') },
  },
  'unknown-name': {
    cause: 'The list has no column of this name. The message would have a gap there.',
    fix: 'Take the name that is proposed. A column with spaces is written `{{[first name]}}`.',
    example: { files: template('Hello {{firstname}}, your order {{order}} is ready.') },
  },
  'unknown-helper': {
    cause: 'A word with a value after it is a helper, and there is none of that name.',
    fix: 'Take one of [templates.md](templates.md).',
    example: { files: template('Hello {{shout first_name}}, your order {{order}} is ready.') },
  },
  'unknown-partial': {
    cause: 'Partials are `*.hbs` files beside the campaign or in the folder that `partials` in handbill.yaml names.',
    fix: 'Correct the name, or add the file.',
    example: { files: template('Hello {{first_name}}. {{> footer}}') },
  },
  'partial-cycle': {
    cause: 'A partial includes itself, perhaps by way of another.',
    fix: 'Take one of the inclusions out.',
    example: {
      files: {
        'handbill.yaml': 'partials: partials\n',
        'partials/footer.hbs': '{{> address}}',
        'partials/address.hbs': '{{> footer}}',
        ...template('Hello {{first_name}}. {{> footer}}'),
      },
    },
  },
  'helper-arguments': {
    cause: 'A helper gets too many or too few values, or an option that it does not know.',
    fix: 'Write it as in the example of the message.',
    example: { files: template('Hello {{upper first_name order}}.') },
  },
  'missing-variable': {
    cause: 'The template needs a value that is empty in this row: the message would have had a hole.',
    fix: 'Fill the cell, give a default (`{{default first_name "there"}}`), put the sentence into `{{#if first_name}}`, or skip such rows with `--allow invalid-rows`.',
    example: { files: list('+447400123456,,0042') },
  },
  'render-error': {
    cause: 'A helper cannot work with the value of this row, such as a date that is none.',
    fix: 'Correct the cell, or put the expression into `{{#if ...}}`.',
    example: { files: template('Hello {{first_name}}, see you on {{date order}}.') },
  },
  'column-is-helper': {
    cause: 'A column is called `if`, `each`, `unless` or `with`, and so is a block of the template language.',
    fix: 'Write `{{[if]}}` for the column, or rename it.',
    example: {
      files: {
        ...template('Hello {{first_name}}, {{if}}'),
        ...list('+447400123456,Ada,0042,x', 'msisdn,first_name,order,if'),
      },
    },
  },
  'html-entity': {
    cause: 'Only email is HTML: on other channels `&amp;` is five characters that people read, and so is `<br>` four.',
    fix: 'Write the character itself, and a line end for `<br>`. Where the list holds it, export it as plain text.',
    example: { files: template('Hello {{first_name}}, fish &amp; chips are ready.') },
  },
  'foreign-tag': {
    cause:
      '`{name}`, `%name%` and `{name}` after a `$` are placeholders of other tools. Here they are text, and everyone would read the brackets.',
    fix: 'Write `{{name}}`. If you mean the brackets literally, do nothing: this is a warning.',
    example: { files: template('Hello {first_name}, your order is ready.') },
  },
  'template-needs': {
    cause:
      "`template.needs` names the variables of the provider's template, and `variables` or the list do not have exactly these.",
    fix: 'Add the column or the variable, or correct `template.needs`. See [provider-templates.md](provider-templates.md).',
    example: { files: campaign('template: { id: ready-2, needs: [first_name, shop] }') },
  },
  'unused-column': {
    cause: 'It is in the set for a stricter check than there is; a list with more columns than are used is usual.',
    fix: 'Nothing needs to be done.',
    example: null,
  },
} as const satisfies Readonly<Record<string, Explained>>;
