import { formatDiagnostics, loadCampaign, validate } from 'handbill';

const { valid, errors, diagnostics, files } = await validate();
console.log(valid, errors, files.map(({ file }) => file));

// For people, with the place and what to do next.
process.stderr.write(formatDiagnostics(diagnostics, { colour: false, limit: 20 }));

const { name, channel } = await loadCampaign('hello');
console.log(name, channel);

/* prints
true 0 [ 'campaigns/digest/campaign.yaml', 'campaigns/hello/campaign.yaml' ]
hello sms
*/
