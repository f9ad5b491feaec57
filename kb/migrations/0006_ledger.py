import uuid

import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_preferences'),
        ('kb', '0005_pictures'),
    ]

    operations = [
        migrations.CreateModel(
            name='Balance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('total', models.DecimalField(decimal_places=6, default=0, max_digits=16)),
                ('workspace', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.workspace')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('workspace',), name='one_balance_each', nulls_distinct=False)],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Charge',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('execution_id', models.CharField(help_text='of the run of a tool that it was for', max_length=40, null=True)),
                ('purpose', models.CharField(choices=[('search', 'Search'), ('model', 'Model')], max_length=10)),
                ('provider', models.CharField(help_text='the search provider, or the model', max_length=100)),
                ('amount', models.DecimalField(decimal_places=6, max_digits=16)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('settled_at', models.DateTimeField(null=True)),
                ('lease_until', models.DateTimeField(help_text='then a reservation is over: its process is gone')),
                ('workspace', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='accounts.workspace')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'objects',
                'indexes': [models.Index(fields=['workspace', 'created_at'], name='charge_of_workspace'), models.Index(fields=['created_at'], name='charge_created'), models.Index(condition=models.Q(('execution_id__isnull', False)), fields=['execution_id'], name='charge_of_execution'), models.Index(condition=models.Q(('settled_at', None)), fields=['lease_until'], name='charge_lease')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
